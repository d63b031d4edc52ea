"""Length limits pushed into a language change nothing but its shape."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.schema.lengths import within
from constrain.syntax.expr import And
from constrain.syntax.regex import parse_search
from tests.expr_oracle import matches

PATTERNS = [
    "^[a-z]+$",
    "^[a-z][a-z0-9]*$",
    "ab",
    "^a.*",
    "^(a|b)[0-9]{2,}$",
    "^a?b*$",
    "^$|^a+$",
    "^[ab]{2,5}$",
]


@settings(max_examples=200, deadline=None)
@given(
    pattern=st.sampled_from(PATTERNS),
    minimum=st.integers(0, 4),
    more=st.one_of(st.none(), st.integers(0, 4)),
    text=st.text("ab1\n", max_size=8),
)
def test_a_fitted_language_holds_the_texts_of_the_right_length(
    pattern: str, minimum: int, more: int | None, text: str
) -> None:
    language = parse_search(pattern)
    maximum = None if more is None else minimum + more
    fitted = within(language, minimum, maximum)
    if fitted is not None:
        fits = minimum <= len(text) and (maximum is None or len(text) <= maximum)
        assert matches(fitted, text) == (matches(language, text) and fits)


@pytest.mark.parametrize("pattern", ["^[a-z]+$", "^[a-z][a-z0-9]*$", "^a.*", "^[^,]"])
def test_one_run_of_characters_needs_no_product(pattern: str) -> None:
    fitted = within(parse_search(pattern), 0, 260)
    assert fitted is not None
    assert not isinstance(fitted, And)
