"""What is not a schema, or cannot be enforced: an error, or an answer, at a JSON Pointer."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.errors import (
    LimitExceeded,
    SchemaError,
    UnresolvableReference,
    UnsatisfiableSchema,
    UnsupportedSchema,
)
from constrain.limits import Limits
from constrain.schema import SchemaOptions, schema_grammar

MALFORMED = [
    ({"properties": ["name"]}, "/properties"),
    ({"properties": {"a": {"required": "name"}}}, "/properties/a/required"),
    ({"type": "strin"}, "/type"),
    ({"items": {"minLength": -1}}, "/items/minLength"),
    ({"maximum": "3"}, "/maximum"),
    ({"multipleOf": 0}, "/multipleOf"),
    ({"pattern": "("}, "/pattern"),
    ({"patternProperties": {"a/(": {}}}, "/patternProperties/a~1("),
    ({"enum": "a"}, "/enum"),
    ({"anyOf": []}, "/anyOf"),
    ({"anyOf": [3]}, "/anyOf/0"),
    ({"$ref": 7}, "/$ref"),
    ({"uniqueItems": 1}, "/uniqueItems"),
]


@pytest.mark.parametrize(("schema", "pointer"), MALFORMED)
def test_a_malformed_keyword_is_named_at_its_pointer(schema: Any, pointer: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema_grammar(schema)
    assert caught.value.pointer == pointer
    assert f"at #{pointer}:" in str(caught.value)


@pytest.mark.parametrize(
    "target", ["#/$defs/none", "/$defs/x", "https://example.com/s.json", "#none"]
)
def test_a_reference_that_leads_nowhere_is_an_error_with_a_remedy(target: str) -> None:
    with pytest.raises(UnresolvableReference) as caught:
        schema_grammar({"properties": {"v": {"$ref": target}}, "$defs": {"x": {}}})
    assert caught.value.pointer == "/properties/v/$ref"
    assert caught.value.remedy


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "integer", "minimum": 5, "maximum": 3},
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"enum": ["a"], "type": "integer"},
        {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        {"type": "array", "contains": {"const": 1}, "maxItems": 0},
    ],
)
def test_a_schema_without_instances_is_recognised(schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchema):
        schema_grammar(schema)


def test_the_part_that_cannot_be_is_named() -> None:
    inner = {
        "type": "object",
        "properties": {"b": {"type": "string", "enum": [1]}},
        "required": ["b"],
    }
    schema = {"type": "object", "properties": {"a": inner}, "required": ["a"]}
    with pytest.raises(UnsatisfiableSchema) as caught:
        schema_grammar(schema)
    assert caught.value.pointer == "/properties/a/properties/b"


def test_a_schema_that_only_refers_to_itself_is_refused() -> None:
    for schema in ({"$ref": "#"}, {"allOf": [{"$ref": "#"}]}):
        with pytest.raises(UnsupportedSchema):
            schema_grammar(schema)


def test_what_is_not_enforced_is_answered_and_refused_when_strict() -> None:
    item = {"properties": {"a": {"type": "boolean"}}, "type": "object"}
    array = {"type": "array", "items": item | {"additionalProperties": False}, "minItems": 4}
    schema = {"items": array | {"uniqueItems": True}}
    (answer,) = schema_grammar(schema).answers
    assert (answer.pointer, answer.keyword, answer.answer) == (
        "/items/uniqueItems",
        "uniqueItems",
        "checked",
    )
    with pytest.raises(UnsupportedSchema) as caught:
        schema_grammar(schema, SchemaOptions(strict=True))
    assert caught.value.pointer == "/items/uniqueItems"


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "string", "format": "uri", "maxLength": 200_000}, "maxLength"),
        (
            {"type": "object", "minProperties": 3, "additionalProperties": False}
            | {"patternProperties": {"^[ab]": {}}, "propertyNames": {"pattern": "[12]$"}},
            "minProperties",
        ),
        ({"type": "number", "multipleOf": 0.0012347}, "multipleOf"),
        ({"not": {"uniqueItems": True}}, "not"),
    ],
)
def test_each_limit_of_the_mask_is_an_answer(schema: Any, keyword: str) -> None:
    assert [(a.pointer, a.answer) for a in schema_grammar(schema).answers] == [
        (f"/{keyword}", "checked")
    ]


def test_nesting_is_limited_and_never_exhausts_the_stack() -> None:
    schema: Any = {"type": "null"}
    for _ in range(390):
        schema = {"type": "array", "items": schema}
    schema_grammar(schema)
    deep: Any = {}
    for _ in range(3_000):
        deep = {"allOf": [deep], "type": "object"}
    with pytest.raises(LimitExceeded):
        schema_grammar(deep)
    with pytest.raises(LimitExceeded):
        schema_grammar(schema, limits=Limits(depth=50))


def test_short_lists_among_key_patterns_cost_nothing() -> None:
    listed = {f"^NAME-{n}$": {"const": n} for n in range(40)}
    schema = {
        "patternProperties": {"^[A-Z0-9-]+$": {"type": "integer"}, **listed},
        "type": "object",
    }
    assert not schema_grammar(schema).answers


def test_keys_that_are_few_are_counted() -> None:
    keys = {"^[a-c]$": {}}
    schema = {"type": "object", "patternProperties": keys, "additionalProperties": False}
    assert not schema_grammar(schema | {"minProperties": 3}).answers
    with pytest.raises(UnsatisfiableSchema):
        schema_grammar(schema | {"minProperties": 4})


def test_keys_of_an_endless_pattern_are_enough_for_any_count() -> None:
    keys = {"a": {}, "^.{1,2}$": False}
    schema = {"type": "object", "patternProperties": keys, "additionalProperties": False}
    assert not schema_grammar(schema | {"minProperties": 30}).answers
    short = schema | {"propertyNames": {"maxLength": 3}, "minProperties": 30}
    assert [a.keyword for a in schema_grammar(short).answers] == ["minProperties"]


def test_among_arrays_without_equal_items_unique_items_fails_nowhere() -> None:
    branches = [{"items": {"type": "string"}, "minItems": 1}, {"items": {"enum": [1, "a"]}}]
    schema = {"oneOf": [b | {"type": "array", "uniqueItems": True} for b in branches]}
    assert not schema_grammar(schema).answers
