"""Tests of pipelines.outline."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.outline import outline

__all__: list[str] = []


def test_fields_come_in_order_with_type_and_meaning() -> None:
    schema = {
        "properties": {
            "kind": {"enum": ["article", "book", None], "description": "What it\n  is"},
            "year": {"type": "integer", "minimum": 1500, "maximum": 2030, "title": "Year"},
            "date": {"type": ["string", "null"], "format": "date"},
            "lines": {
                "type": "array",
                "items": {"$ref": "#/$defs/line"},
            },
            "tags": {"type": "array", "items": {"type": "string"}},
            "seller": {"anyOf": [{"$ref": "#/$defs/seller"}, {"type": "null"}]},
        },
        "$defs": {
            "line": {"properties": {"amount": {"type": "number", "description": "Net"}}},
            "seller": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
    assert outline(schema).splitlines() == [
        '- kind ("article", "book" or null): What it is',
        "- year (whole number from 1500 to 2030): Year",
        "- date (date or null)",
        "- lines (list)",
        "  - amount (number): Net",
        "- tags (list of text)",
        "- seller (object or null)",
        "  - city (text)",
    ]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "description": "A name"}, "- text: A name"),
        ({"const": 3}, "- 3"),
        (True, "- any value"),
        ({"type": "array", "items": {"type": "integer"}}, "- list of whole number"),
    ],
)
def test_a_schema_without_fields_is_one_line(schema: Any, expected: str) -> None:
    assert outline(schema) == expected


def test_recursion_ends() -> None:
    schema = {
        "$ref": "#/$defs/tree",
        "$defs": {"tree": {"properties": {"left": {"$ref": "#/$defs/tree"}}}},
    }
    assert len(outline(schema).splitlines()) == 5


def test_lists_of_lists_without_end_end() -> None:
    lists = {"type": "array", "items": {"$ref": "#/$defs/l"}}
    assert outline({"$ref": "#/$defs/l", "$defs": {"l": lists}}) == "- list of list of list of list"
