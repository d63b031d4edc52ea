"""The regex tables through the whole engine: pattern text to bytes that a Matcher accepts."""

from __future__ import annotations

import json

import pytest

from constrain import Matcher, compile_regex, compile_schema
from constrain.errors import UnsatisfiableSchema
from tests.conformance.vocabularies import BYTES
from tests.syntax.test_regex import SEARCH, WHOLE


def _accepts(compiled, text):
    matcher = Matcher(compiled)
    return (not text or matcher.accept_bytes(text.encode())) and matcher.is_accepting()


@pytest.mark.parametrize(("pattern", "inside", "outside"), WHOLE)
def test_a_compiled_regex_accepts_what_its_pattern_means(pattern, inside, outside):
    compiled = compile_regex(pattern, BYTES)
    assert [text for text in inside if not _accepts(compiled, text)] == []
    assert [text for text in outside if _accepts(compiled, text)] == []


@pytest.mark.parametrize(("pattern", "inside", "outside"), SEARCH)
def test_a_schema_pattern_accepts_the_json_spellings_of_what_it_means(pattern, inside, outside):
    schema = {"type": "string", "pattern": pattern}
    if not inside:
        with pytest.raises(UnsatisfiableSchema):
            compile_schema(schema, BYTES)
        return
    compiled = compile_schema(schema, BYTES)
    spelled = {text: json.dumps(text, ensure_ascii=False) for text in [*inside, *outside]}
    assert [text for text in inside if not _accepts(compiled, spelled[text])] == []
    assert [text for text in outside if _accepts(compiled, spelled[text])] == []
