"""Tests of pipelines.schematree."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.schematree import branches, in_schema_order, item_schema, properties, resolve

__all__: list[str] = []

ROOT: dict[str, Any] = {
    "$defs": {
        "name": {"type": "string", "title": "Name"},
        "again": {"$ref": "#/$defs/name"},
        "loop": {"$ref": "#/$defs/loop"},
        "a/b": {"type": "integer"},
        "tree": {
            "properties": {"z": {}, "left": {"$ref": "#/$defs/tree"}},
        },
    },
}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"$ref": "#/$defs/again"}, {"type": "string", "title": "Name"}),
        ({"$ref": "#/$defs/name", "title": "Own"}, {"type": "string", "title": "Own"}),
        ({"$ref": "#/$defs/a~1b"}, {"type": "integer"}),
        ({"$ref": "#/$defs/loop"}, True),
        ({"$ref": "#/nowhere"}, True),
        ({"$ref": "http://example.com/x"}, True),
        ({"allOf": [{"$ref": "#/$defs/name"}], "description": "D"},
         {"type": "string", "title": "Name", "description": "D"}),
        (False, False),
    ],
)  # fmt: skip
def test_references_are_followed_as_far_as_they_lead(schema: Any, expected: Any) -> None:
    assert resolve(schema, ROOT) == expected


def test_branches_see_through_or_null() -> None:
    schema = {"anyOf": [{"$ref": "#/$defs/name"}, {"type": "null"}]}
    assert branches(schema, ROOT) == [{"type": "string", "title": "Name"}, {"type": "null"}]


def test_tuples_have_no_one_item_schema() -> None:
    assert item_schema({"prefixItems": [{}], "items": {"type": "string"}}, ROOT) is None
    assert item_schema({"items": {"type": "string"}}, ROOT) == {"type": "string"}


def test_properties_of_what_is_no_object_are_none() -> None:
    assert properties(True, ROOT) == {}


def test_keys_are_put_in_schema_order_at_every_depth() -> None:
    schema = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tree"}]}
    value = {"x": 1, "left": {"left": {"z": 1}, "z": 2}, "z": 3}
    ordered = in_schema_order(value, schema, ROOT)
    assert ordered == value
    assert list(ordered) == ["z", "left", "x"]
    assert list(ordered["left"]) == ["z", "left"]


def test_objects_in_arrays_are_ordered_too() -> None:
    schema = {"type": "array", "items": {"properties": {"b": {}, "a": {}}}}
    assert list(in_schema_order([{"a": 1, "b": 2}], schema, schema)[0]) == ["b", "a"]
