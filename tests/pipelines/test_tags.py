"""Structural tags in a run: the parts of an answer become the fields of a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from constrain import Matcher, Vocabulary, compile_tags
from constrain.errors import ConstraintError
from constrain.schema import SchemaOptions
from pipelines.config import Whitespace
from pipelines.errors import ConfigError
from pipelines.jsontext import JsonError
from pipelines.tags import TagsConstraint, load_tags

BYTES = Vocabulary.of([*(bytes([b]) for b in range(256))], [256])
COMPACT = SchemaOptions(whitespace="compact", distinct_keys=True)
EXAMPLE = Path(__file__).resolve().parents[2] / "schemas" / "reasoned.yaml"

TOOLS = """
- any_of:
    - {name: add, begin: "<add>", end: "</add>", schema: {type: array, items: {type: integer}}}
    - {name: say, begin: "<say>", end: "</say>", regex: "[a-z<]+"}
  name: calls
  text: {max_length: 20}
"""


def load(folder: Path, text: str) -> TagsConstraint:
    (folder / "tags.yaml").write_text(text)
    return load_tags(str(folder / "tags.yaml"), COMPACT)


def test_the_example_reads_the_schema_beside_it() -> None:
    constraint = load_tags(str(EXAMPLE), SchemaOptions(strict=True, distinct_keys=True))
    assert "authors" in constraint.instruction
    value = constraint.parse('<think>Two.</think>\n```json\n{"title": "A </think> ```"}\n```')
    assert value == {"thoughts": "Two.", "reference": {"title": "A </think> ```"}}
    assert {f.pointer for f in constraint.faults(value)} == {"/reference"}


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("no call", []),
        ("<add>[1,2]</add>", [{"name": "add", "value": [1, 2]}]),
        (
            "so <say>a<b</say> and <add>[]</add>.",
            [{"name": "say", "value": "a<b"}, {"name": "add", "value": []}],
        ),
    ],
)
def test_islands_become_a_list(tmp_path: Path, text: str, calls: list[Any]) -> None:
    constraint = load(tmp_path, TOOLS)
    matcher = Matcher(compile_tags(constraint.parts, BYTES, constraint.options))
    assert matcher.accept_bytes(text.encode())
    assert matcher.is_accepting()
    value = constraint.parse(text)
    assert value == {"calls": calls}
    assert constraint.parse(constraint.spell(value)) == value


def test_a_text_without_the_parts_is_told(tmp_path: Path) -> None:
    constraint = load(tmp_path, TOOLS)
    with pytest.raises(JsonError, match="does not have the parts"):
        constraint.parse("<add>[1")


@pytest.mark.parametrize(
    ("calls", "place"),
    [
        (None, "/calls/0"),
        ([1], "/calls/0"),
        ([{"name": "say", "value": "a"}, {"name": "sing", "value": "a"}], "/calls/1/name"),
        ([{"name": ["say"], "value": "a"}], "/calls/0/name"),
        ([{"name": "say"}], "/calls/0"),
        ([{"name": "say", "value": 1}], "/calls/0/value"),
        ([{"name": "add", "value": [1, "2"]}], "/calls/0/value/1"),
    ],
)
def test_an_example_with_other_islands_has_faults(tmp_path: Path, calls: Any, place: str) -> None:
    assert [f.pointer for f in load(tmp_path, TOOLS).faults({"calls": calls})] == [place]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"thoughts": "a"}, ""),
        ({"thoughts": 1, "kind": "x"}, "/thoughts"),
        ({"thoughts": "a", "kind": "z"}, "/kind"),
    ],
)
def test_an_example_with_other_parts_has_faults(tmp_path: Path, value: Any, place: str) -> None:
    text = "- {name: thoughts, text: {}}\n- {name: kind, begin: '<', end: '>', choices: [x, y]}"
    assert [f.pointer for f in load(tmp_path, text).faults(value)] == [place]


@pytest.mark.parametrize("whitespace", ["compact", "flexible", "pretty"])
def test_islands_are_spelled_as_the_policy_allows(whitespace: Whitespace) -> None:
    options = SchemaOptions(whitespace=whitespace, distinct_keys=True)
    constraint = load_tags(str(EXAMPLE), options)
    reference = {"authors": "A", "title": "B", "year": 1999, "pages": None, "container": None}
    value = {"thoughts": "Two.", "reference": reference}
    assert not constraint.faults(value)
    matcher = Matcher(compile_tags(constraint.parts, BYTES, options))
    assert matcher.accept_bytes(constraint.spell(value).encode()), constraint.spell(value)
    assert matcher.is_accepting()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1", "no list of parts"),
        ("- {text: {}}", "no part has a name"),
        ("- {name: a, text: {}}\n- {name: a, begin: x, regex: y}", "two have the same"),
        ("- {name: 1, text: {}}", "one is no text"),
        ("- [", "no YAML"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load(tmp_path, text)


def test_what_the_engine_refuses_is_refused_before_a_model_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(ConstraintError, match="free text needs an 'end'"):
        load(tmp_path, "- {name: a, begin: x, text: {}}\n- {begin: y, regex: z}")
