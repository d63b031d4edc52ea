"""Tests of pipelines.fields."""

from __future__ import annotations

import json

from hypothesis import given

from pipelines.fields import WHOLE, field_name, walk_fields
from pipelines.spans import value_spans
from tests.pipelines.test_spans import JSON

__all__: list[str] = []


def test_names_are_dotted_and_indices_are_brackets() -> None:
    value = {"a": {"b": [{"c": 1}, {"c": 2}]}, "d": []}
    assert list(walk_fields(value)) == [
        ("a", {"b": [{"c": 1}, {"c": 2}]}),
        ("a.b", [{"c": 1}, {"c": 2}]),
        ("a.b[]", {"c": 1}),
        ("a.b[].c", 1),
        ("a.b[]", {"c": 2}),
        ("a.b[].c", 2),
        ("d", []),
    ]


def test_a_value_that_is_no_object_is_a_field_of_its_own() -> None:
    assert list(walk_fields([1])) == [(WHOLE, [1]), ("[]", 1)]


def test_keys_that_would_be_misread_are_quoted() -> None:
    assert [name for name, _ in walk_fields({"": 1, "a.b": {"c": 2}})] == [
        '""',
        '"a.b"',
        '"a.b".c',
    ]


@given(JSON)
def test_values_and_spans_agree_on_names(value: object) -> None:
    walked = [name for name, _ in walk_fields(value)]
    spans = [field_name(s.path) for s in value_spans(json.dumps(value).encode())]
    assert walked == (spans[1:] if isinstance(value, dict) else spans)
