"""Number texts against exact arithmetic."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.errors import UnsatisfiableSchema
from tests.expr_oracle import accepts
from tests.schema.languages import language, written

bounds = st.one_of(
    st.integers(-1200, 1200),
    st.decimals(-20, 20, places=2).map(float),
    st.sampled_from([0, 0.0, 1e3, 0.1, -0.5, 2**60, 1e-7]),
)
texts = st.one_of(
    st.integers(-1300, 1300).map(str),
    st.decimals(-25, 25, places=3).map(str),
    st.decimals(-2, 2, places=1).map(str),
)
KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def fulfils(schema: dict[str, Any], value: Decimal) -> bool:
    exact = {k: Decimal(repr(v)) for k, v in schema.items() if k in (*KEYWORDS, "multipleOf")}
    return (
        value >= exact.get("minimum", value)
        and value <= exact.get("maximum", value)
        and value > exact.get("exclusiveMinimum", value - 1)
        and value < exact.get("exclusiveMaximum", value + 1)
        and value % exact.get("multipleOf", Decimal("1e-9")) == 0
    )


@settings(max_examples=250, deadline=None)
@given(
    bounds=st.dictionaries(st.sampled_from(KEYWORDS), bounds, min_size=1, max_size=2),
    kind=st.sampled_from(["number", "integer"]),
    candidates=st.lists(texts, min_size=1, max_size=12),
)
def test_a_bounded_number_is_accepted_exactly_when_it_is_within(
    bounds: dict[str, float], kind: str, candidates: list[str]
) -> None:
    schema = {"anyOf": [{"type": kind, **bounds}, {"type": "null"}]}
    member = language(schema)
    for text in candidates:
        value = Decimal(text)
        negative_zero = text.startswith("-") and value == 0
        expected = fulfils(bounds, value) and (kind == "number" or "." not in text)
        if not negative_zero:
            assert member(text) == expected, (text, bounds)


@settings(max_examples=150, deadline=None)
@given(
    step=st.sampled_from(
        [1, 2, 3, 7, 10, 12, 30, 250, 0.01, 0.5, 0.25, 1.0, 0.125, 2.5, 1.5, 0.3, 0.07]
    ),
    low=st.integers(-50, 50),
    candidates=st.lists(texts, min_size=1, max_size=12),
)
def test_multiples_are_exact_in_decimal(step: float, low: int, candidates: list[str]) -> None:
    schema = {"type": "number", "multipleOf": step, "minimum": low}
    grammar = written(schema).grammar
    for text in candidates:
        value = Decimal(text)
        whole = Decimal(repr(step)) % 1 == 0
        if not (text.startswith("-") and value == 0) and not (whole and "." in text):
            assert accepts(grammar, text) == fulfils(schema, value), (text, step)


@settings(max_examples=150, deadline=None)
@given(
    steps=st.lists(st.sampled_from([2.5, 1.5, 0.3, 0.5, 2, 3]), min_size=1, max_size=2),
    others=st.lists(st.sampled_from([6.5, 1.25, 4, 0.6, 9]), max_size=3),
    low=st.integers(-9, 9),
    candidates=st.lists(texts | st.integers(-200, 200).map(lambda n: str(Decimal(n) / 4))),
)
def test_multiples_of_one_and_not_of_others(
    steps: list[float], others: list[float], low: int, candidates: list[str]
) -> None:
    asked = [{"multipleOf": step} for step in steps]
    asked += [{"not": {"multipleOf": other}} for other in others]
    try:
        found = written({"type": "number", "minimum": low, "allOf": asked})
    except UnsatisfiableSchema:
        return
    assert not found.answers
    for text in candidates:
        value = Decimal(text)
        exact = [value % Decimal(repr(step)) == 0 for step in steps]
        exact += [value % Decimal(repr(other)) != 0 for other in others]
        whole = all(step % 1 == 0 for step in steps)
        if value == 0 or (value == int(value) and "." in text) or (whole and "." in text):
            continue
        assert accepts(found.grammar, text) == (all(exact) and value >= low), (text, asked)


@pytest.mark.parametrize(
    "text", ["0", "-0", "12.5", "1e5", "1.5E-3", "-7.25e+10", "0.000001", "1.5707963267948966"]
)
def test_an_unbounded_number_may_be_any_that_a_person_writes(text: str) -> None:
    assert language({"type": "number"})(text)


@pytest.mark.parametrize(
    "text", ["01", ".5", "1.", "+1", "1.e2", "-", "1e", "NaN", "1" * 21, "0." + "1" * 18]
)
def test_digits_are_json_and_bounded(text: str) -> None:
    assert not language({"type": "number"})(text)


def test_powers_of_ten_never_cross_a_bound() -> None:
    positive = language({"type": "number", "exclusiveMinimum": 0})
    assert positive("5e-7")
    assert positive("1e20")
    assert not positive("0e5")
    assert not language({"type": "number", "minimum": 1})("5e-7")
    assert not language({"type": "number", "maximum": 10})("5e7")


def test_a_bound_with_more_digits_raises_the_limit_on_digits() -> None:
    member = language({"type": "integer", "minimum": 10**25})
    assert member("1" + "0" * 25)
    assert not member("9" * 25)


def test_rounding_to_a_float_never_reaches_an_open_bound() -> None:
    below = language({"type": "number", "exclusiveMaximum": 1e15})
    assert not below("999999999999999.99")
    assert below("999999999999999")
    assert below("12.123456789012")
    assert language({"type": "number", "exclusiveMaximum": 2**60})("0.000")
    assert language({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 2**60})("0.5")
    above = language({"type": "number", "exclusiveMinimum": 2**60})
    assert not above(str(2**60 + 1) + ".5")
    assert above(str(2**60 + 1))


@settings(max_examples=200, deadline=None)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_of_ordinary_size_is_possible_as_json_writes_it(value: float) -> None:
    text = repr(value)
    if 1e-4 < abs(value) < 1e16:
        assert language({"type": "number"})(text) == (len(text.partition(".")[2]) <= 17)


@settings(max_examples=300, deadline=None)
@given(
    bound=st.one_of(st.integers(1, 10**18), st.decimals(0, 2000, places=3).map(float)),
    up=st.booleans(),
    tail=st.text("09", min_size=1, max_size=17),
    off=st.integers(-2, 2),
)
def test_what_is_within_an_open_bound_stays_so_as_a_float(
    bound: float, up: bool, tail: str, off: int
) -> None:
    keyword = "exclusiveMinimum" if up else "exclusiveMaximum"
    text = f"{int(bound) + off}.{tail}"
    if language({"type": "number", keyword: bound})(text):
        assert float(text) > bound if up else float(text) < bound


@pytest.mark.parametrize("text", ["75.0", "75", "0.25", "99.750", "0", "100"])
def test_a_multiple_between_bounds_is_spelled_freely(text: str) -> None:
    assert language({"type": "number", "multipleOf": 0.25, "minimum": 0, "maximum": 100})(text)


def test_whole_numbers_that_a_float_rounds_are_no_way_around_a_fraction() -> None:
    member = language({"type": "integer", "not": {"multipleOf": 2.5}})
    assert member("7")
    assert not member("10")
    assert not member("43182513886055138572")
