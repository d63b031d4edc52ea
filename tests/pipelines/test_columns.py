"""Tests of pipelines.columns and pipelines.arrow: the rule, and values through Arrow and back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.arrow import arrow_field, from_arrow, to_arrow
from pipelines.columns import Column, Json, List, Scalar, Struct, Unseen, column_for, widen

__all__: list[str] = []

TEXT, INT, FLOAT = Scalar("string"), Scalar("int53"), Scalar("float64")
TREE = {"properties": {"left": {"$ref": "#/$defs/tree"}}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "date"}, TEXT),
        ({"type": ["string", "null"]}, TEXT),
        ({"type": "boolean"}, Scalar("bool")),
        ({"type": "integer"}, INT),
        ({"type": "integer", "maximum": 2**60}, Scalar("int64")),
        ({"type": "integer", "minimum": 0, "maximum": 2**64 - 1}, Scalar("decimal")),
        ({"type": "integer", "maximum": 10**40}, Scalar("bigint")),
        ({"type": ["integer", "number"]}, FLOAT),
        ({"enum": ["a", "b", None]}, TEXT),
        ({"enum": [1, 2**60]}, Scalar("int64")),
        ({"enum": [1, "a"]}, Json()),
        ({"const": True}, Scalar("bool")),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, TEXT),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, Json()),
        ({"type": ["integer", "string", "null"]}, Json()),
        ({"type": "array", "items": {"type": "string"}}, List(TEXT)),
        ({"type": "array"}, Json()),
        ({"type": "array", "prefixItems": [{}]}, Json()),
        ({"properties": {"a": {"type": "string"}}}, Struct({"a": TEXT})),
        ({"type": "object"}, Json()),
        ({"type": "object", "additionalProperties": False}, Json()),
        ({"type": "null"}, Json()),
        (True, Json()),
        ({"$ref": "#/$defs/tree", "$defs": {"tree": TREE}}, Struct({"left": Json()})),
        ({"allOf": [{"type": "string"}], "title": "t"}, TEXT),
        ({"allOf": [{"minLength": 1}, {"maxLength": 2}]}, Json()),
    ],
)
def test_the_rule(schema: Any, expected: Column) -> None:
    assert column_for(schema, schema) == expected


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        (INT, 2**60, Scalar("int64")),
        (INT, 18329103420363166823, Scalar("decimal")),
        (Scalar("decimal"), 1, Scalar("decimal")),
        (INT, 10**40, Scalar("bigint")),
        (INT, 1.5, FLOAT),
        (INT, 3.0, INT),
        (Scalar("int64"), 1.5, Json()),
        (INT, "x", Json()),
        (INT, True, Json()),
        (FLOAT, 2**53 + 1, Json()),
        (FLOAT, 10**400, Json()),
        (FLOAT, 3, FLOAT),
        (TEXT, 1, Json()),
        (TEXT, None, TEXT),
        (Unseen(), None, Unseen()),
        (Unseen(), [1], Json()),
        (List(INT), [1, None, 2**60], List(Scalar("int64"))),
        (Struct({"a": INT}), {"b": 1}, Struct({"a": INT}, extra=True)),
        (Struct({"a": INT}), {"a": 2.5}, Struct({"a": FLOAT})),
        (Struct({"a": INT}), [1], Json()),
    ],
)
def test_a_column_widens_for_what_it_cannot_hold(
    column: Column, value: Any, expected: Column
) -> None:
    assert widen(column, value) == expected


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"))
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "_extra", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)
COLUMNS = st.sampled_from(
    [TEXT, INT, FLOAT, Scalar("bool"), List(INT), List(Struct({"a": TEXT})), Json(), Unseen(),
     Struct({"a": INT, "b": List(FLOAT)}), Struct({"_extra": TEXT})]
)  # fmt: skip


def full(value: Any, column: Column) -> Any:
    """Return what a struct column makes of a value: missing keys are null."""
    if isinstance(column, Struct) and isinstance(value, dict):
        nulls = dict.fromkeys(column.fields)
        return {**nulls, **{k: full(v, column.fields.get(k, Json())) for k, v in value.items()}}
    if isinstance(column, List) and isinstance(value, list):
        return [full(item, column.item) for item in value]
    return value


@given(COLUMNS, st.lists(VALUES, min_size=1, max_size=4))
def test_whatever_comes_the_widened_column_gives_it_back_exactly(
    column: Column, values: list[Any]
) -> None:
    for value in values:
        column = widen(column, value)
    field = arrow_field("value", column)
    array = pa.array([to_arrow(value, column) for value in values], field.type)
    back = [from_arrow(value, field) for value in array.to_pylist()]
    assert back == [full(value, column) for value in values]


def test_a_lone_surrogate_is_written_as_a_question_mark() -> None:
    assert to_arrow("a\ud83d", TEXT) == "a?"
