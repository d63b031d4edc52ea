"""References and dialects inside one document."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.errors import UnresolvableReference
from constrain.schema import schema_grammar
from tests.expr_oracle import accepts
from tests.schema.languages import COMPACT, language

I = {"type": "integer"}  # noqa: E741
BUNDLE = {
    "$id": "https://example.com/root.json",
    "$ref": "item.json",
    "$defs": {
        "item": {
            "$id": "item.json",
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/n"}, "m": {"$ref": "other.json#part"}},
            "additionalProperties": False,
            "$defs": {"n": I},
        },
        "other": {"$id": "other.json", "$defs": {"p": {"$anchor": "part", "type": "null"}}},
    },
}
REFERENCES = [
    ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": I}}, "1", '"a"'),
    ({"$ref": "#/$defs/a~0b", "$defs": {"a~b": I}}, "1", '"a"'),
    ({"$ref": "#/$defs/a%25b", "$defs": {"a%b": I}}, "1", '"a"'),
    ({"$ref": "#/$defs/a%20b", "$defs": {"a b": I}}, "1", '"a"'),
    ({"$ref": "#foo", "$defs": {"x": {"$anchor": "foo", **I}}}, "1", '"a"'),
    ({"$ref": "#/properties/a/items/0", "properties": {"a": {"items": [I]}}}, "1", '"a"'),
    (BUNDLE, '{"n":1,"m":null}', '{"n":null}'),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "allOf": [{"$ref": "#foo"}],
            "definitions": {"x": {"$id": "#foo", **I}},
        },
        "1",
        '"a"',
    ),
    (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "id": "http://x/y",
            "allOf": [{"$ref": "z"}],
            "definitions": {"z": {"id": "z", **I}},
        },
        "1",
        '"a"',
    ),
]


@pytest.mark.parametrize(("schema", "inside", "outside"), REFERENCES)
def test_references_resolve_inside_the_document(schema: Any, inside: str, outside: str) -> None:
    member = language(schema)
    assert member(inside)
    assert not member(outside)


def test_dynamic_references_take_the_outermost_anchor() -> None:
    schema = {
        "$id": "https://example.com/numbers",
        "$ref": "list",
        "$defs": {
            "item": {"$dynamicAnchor": "item", "type": "number"},
            "list": {
                "$id": "list",
                "type": "array",
                "items": {"$dynamicRef": "#item"},
                "$defs": {"item": {"$dynamicAnchor": "item"}},
            },
        },
    }
    member = language(schema)
    assert member("[1,2]")
    assert not member('["a"]')


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("http://json-schema.org/draft-04/schema#", "draft-04"),
        ("https://json-schema.org/draft-07/schema", "draft-07"),
        ("https://json-schema.org/draft/2019-09/schema", "2019-09"),
        (None, "2020-12"),
    ],
)
def test_the_dialect_comes_from_schema_and_defaults_to_2020(uri: str | None, name: str) -> None:
    schema = {"type": "null"} | ({"$schema": uri} if uri else {})
    assert schema_grammar(schema).dialect == name


def test_identifiers_inside_data_identify_nothing() -> None:
    schema = {"enum": [{"$id": "x", "a": 1}], "$defs": {"y": {"$id": "x", "type": "object"}}}
    assert language({**schema, "$ref": "x"})('{"$id":"x","a":1}')


def test_the_schema_of_a_draft_is_known_without_fetching() -> None:
    uri = "http://json-schema.org/draft-07/schema#"
    member = language({"$schema": uri, "properties": {"s": {"$ref": uri}}, "required": ["s"]})
    assert member('{"s":{"minLength":2,"items":[true],"type":"object"}}')
    assert not member('{"s":{"minLength":-1}}')


def test_the_schema_of_2020_12_is_followed_through_its_vocabularies() -> None:
    member = language({"$ref": "https://json-schema.org/draft/2020-12/schema"})
    assert member('{"properties":{"a":{"minLength":2}}}')
    assert not member('{"properties":{"a":{"minLength":-2}}}')


OTHERS = {
    "https://example.com/size.json": {"$ref": "unit.json#/$defs/metre"},
    "https://example.com/unit.json": {
        "$id": "https://example.org/units/v1",
        "$defs": {"metre": {"$ref": "#long"}, "long": {"$anchor": "long", "minimum": 3}},
    },
    "https://example.com/unused.json": {"$ref": "https://example.com/nowhere.json"},
}


def test_a_reference_leads_to_a_document_given_along() -> None:
    schema = {"type": "integer", "$ref": "https://example.com/size.json"}
    grammar = schema_grammar(schema, COMPACT, others=OTHERS).grammar
    assert accepts(grammar, "3")
    assert not accepts(grammar, "2")


def test_a_document_given_along_has_the_draft_of_the_one_that_refers_to_it() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "urn:pair"}
    pair = {"items": [{"const": 1}, {"const": 2}], "additionalItems": False}
    grammar = schema_grammar(schema, COMPACT, others={"urn:pair": pair}).grammar
    assert accepts(grammar, "[1,2]")
    assert not accepts(grammar, "[1,2,3]")


def test_what_is_not_given_is_named() -> None:
    schema = {"properties": {"a": {"$ref": "https://example.com/unused.json"}}}
    with pytest.raises(UnresolvableReference, match="nowhere") as caught:
        schema_grammar(schema, others=OTHERS)
    assert caught.value.pointer == "https:||example.com|unused.json/$ref"
