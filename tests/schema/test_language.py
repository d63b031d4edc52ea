"""Each keyword's language on small schemas: (schema, texts in it, texts not in it)."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.schema import SchemaOptions
from tests.schema.languages import language, written

S, I, N = {"type": "string"}, {"type": "integer"}, {"type": "number"}  # noqa: E741
D4 = "http://json-schema.org/draft-04/schema#"
D7 = "http://json-schema.org/draft-07/schema#"
D19 = "https://json-schema.org/draft/2019-09/schema"


def obj(properties: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **others}


def closed(properties: dict[str, Any], **others: Any) -> dict[str, Any]:
    return obj(properties, additionalProperties=False, **others)


TREE = {
    "$ref": "#/$defs/t",
    "$defs": {"t": closed({"v": I, "c": {"type": "array", "items": {"$ref": "#/$defs/t"}}})},
}
CASES: list[tuple[str, Any, list[str], list[str]]] = [
    ("true", True, ["1", "null", '{"a":[{"b":[]}]}', '"x"'], ["", "tru", "[1,]", "01"]),
    ("type", {"type": "boolean"}, ["true", "false"], ["0", "null", '"true"']),
    ("types", {"type": ["string", "null"]}, ['"a"', "null"], ["1", "[]"]),
    ("untyped", {"minLength": 2}, ['"ab"', "1", "{}"], ['"a"']),
    ("number and integer", {"type": ["number", "integer"]}, ["1", "1.5"], ['"1"']),
    ("enum", {"enum": ["a", 1, None, {"k": [1, 2]}]}, ['"a"', "1", '{"k":[1,2]}'], ['"b"', "{}"]),
    ("enum under a type", {"type": "string", "enum": ["a", 1]}, ['"a"'], ["1"]),
    ("enum under a pattern", {"enum": ["ab", "b"], "pattern": "^a"}, ['"ab"'], ['"b"']),
    ("enum under bounds", {"enum": [1, 5.5, 9], "maximum": 6}, ["1", "5.5"], ["9"]),
    (
        "enum of objects narrowed",
        {"enum": [{"a": 1}, {"a": 2}], "properties": {"a": {"minimum": 2}}},
        ['{"a":2}'],
        ['{"a":1}'],
    ),
    ("const", {"const": {"b": 1, "a": [True]}}, ['{"b":1,"a":[true]}'], ['{"b":1}', "{}"]),
    ("const 1.0 is 1", {"const": 1.0}, ["1", "1.0"], ["2", "true"]),
    (
        "lengths count code points",
        {**S, "minLength": 2, "maxLength": 3},
        ['"日本"', '"😀😀😀"', '"\\n\\""'],
        ['"é"', '"abcd"'],
    ),
    ("pattern searches", {**S, "pattern": "b+"}, ['"abc"', '"b"'], ['"ac"']),
    (
        "pattern and length",
        {**S, "pattern": "^[a-z]+$", "maxLength": 3},
        ['"abc"'],
        ['"abcd"', '""'],
    ),
    ("unknown format", {**S, "format": "topic"}, ['"x"'], ["1"]),
    (
        "properties in order",
        closed({"a": S, "b": I}, required=["b"]),
        ['{"b":1}', '{"a":"x","b":1}'],
        ["{}", '{"a":"x"}', '{"b":1,"a":"x"}', '{"b":1,"c":1}'],
    ),
    ("open object", obj({"a": I}), ["{}", '{"a":1,"z":[]}', '{"z":1,"y":2}'], ['{"a":"x"}']),
    (
        "additional schema",
        {"type": "object", "additionalProperties": I},
        ['{"x":1}'],
        ['{"x":"y"}'],
    ),
    ("a key with a prefix", obj({"abc": I}), ['{"ab":"x","abcd":"y"}'], ['{"abc":"x"}']),
    (
        "required, not declared",
        obj({"a": I}, required=["z"]),
        ['{"a":1,"z":0}', '{"z":0,"y":0}'],
        ['{"a":1}', '{"y":0}'],
    ),
    ("false property", obj({"a": False, "b": I}), ['{"b":1}', "{}"], ['{"a":1}']),
    (
        "a property of no value",
        closed({"a": {"type": "integer", "minimum": 2, "maximum": 1}}),
        ["{}"],
        ['{"a":1}'],
    ),
    (
        "patternProperties",
        {"type": "object", "patternProperties": {"^x": I}, "additionalProperties": False},
        ['{"x1":1}'],
        ['{"x1":"a"}', '{"y":1}'],
    ),
    (
        "patterns overlap",
        {"type": "object", "patternProperties": {"a": {"minimum": 5}, "b": I}},
        ['{"ab":6}', '{"c":"x"}', '{"a":5.5}'],
        ['{"ab":1}', '{"ab":6.5}', '{"b":"x"}'],
    ),
    (
        "patterns meet properties",
        obj({"ab": {"maximum": 9}}, patternProperties={"^a": I}),
        ['{"ab":3}'],
        ['{"ab":30}', '{"ab":3.5}'],
    ),
    (
        "propertyNames",
        {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
        ['{"ab":1}'],
        ['{"A":1}'],
    ),
    (
        "minProperties of declared keys",
        closed({"a": I, "b": I, "c": I}, minProperties=2),
        ['{"a":1,"c":1}', '{"b":1,"c":1}'],
        ["{}", '{"b":1}'],
    ),
    (
        "a document names its schema first, or last",
        {"$id": "https://example.com/s", **obj({"a": I}, required=["a"])},
        ['{"$schema":"x","a":1}', '{"a":1,"$schema":"x"}', '{"$schema":1,"a":1,"b":2}'],
        ['{"$schema":"x"}', '{"b":2,"a":1}', '{"$schema":"x","b":2,"a":1}'],
    ),
    (
        "it has no name to give without an id, nor where no key is added",
        obj({"a": closed({"b": I}, **{"$id": "https://example.com/s"})}, required=["a"]),
        ['{"a":{"b":1}}', '{"a":{},"$schema":"x"}'],
        ['{"$schema":"x","a":{}}', '{"a":{"$schema":"x"}}'],
    ),
    (
        "what a schema says of $schema holds",
        {"$id": "https://example.com/s", **obj({"a": I}, additionalProperties=S)},
        ['{"$schema":"x","a":1}'],
        ['{"$schema":1,"a":1}', '{"a":1,"$schema":1}'],
    ),
    (
        "branches over some declared keys leave the order to who declares all",
        {
            "oneOf": [
                {"properties": {"kind": {"const": "a"}, "z": {"const": 1}}, "required": ["z"]},
                {"properties": {"kind": {"const": "b"}, "z": {"const": 2}}, "required": ["z"]},
            ],
            **closed({"kind": S, "y": I, "z": I}),
        },
        ['{"kind":"a","y":0,"z":1}', '{"kind":"b","y":0,"z":2}'],
        ['{"kind":"a","z":1,"y":0}', '{"kind":"a","y":0,"z":2}'],
    ),
    (
        "a branch that declares all has the order",
        {
            **obj({"kind": S, "value": True}),
            "oneOf": [closed({"kind": {"const": "a"}, "text": S, "value": I}, required=["kind"])],
        },
        ['{"kind":"a","text":"x","value":1}'],
        ['{"kind":"a","value":1,"text":"x"}'],
    ),
    (
        "a tag stays first",
        {
            "oneOf": [
                {"properties": {"kind": {"const": "a"}}, "required": ["x"]},
                {"properties": {"kind": {"const": "b"}}, "required": ["y"]},
            ],
            **closed({"x": I, "y": I, "kind": {"enum": ["a", "b"]}}, required=["kind"]),
        },
        ['{"kind":"a","x":1}', '{"kind":"b","y":1}'],
        ['{"x":1,"kind":"a"}', '{"kind":"a","y":1}'],
    ),
    (
        "then and else leave the order to the properties",
        {
            "else": {"properties": {"b": {"maximum": 5}}},
            "if": {"properties": {"c": {"const": 1}}},
            **closed({"a": I, "b": I, "c": I}, required=["a", "b", "c"]),
            "then": {"properties": {"b": {"minimum": 6}}},
        },
        ['{"a":1,"b":6,"c":1}', '{"a":1,"b":5,"c":2}'],
        ['{"b":6,"a":1,"c":1}', '{"a":1,"b":6,"c":2}'],
    ),
    ("maxProperties", {"type": "object", "maxProperties": 1}, ["{}", '{"a":1}'], ['{"a":1,"b":2}']),
    (
        "items",
        {"type": "array", "items": I, "minItems": 1, "maxItems": 2},
        ["[1]", "[1,2]"],
        ["[]", "[1,2,3]", '["x"]'],
    ),
    (
        "prefixItems",
        {"type": "array", "prefixItems": [I, S], "items": False},
        ["[]", "[1]", '[1,"a"]'],
        ['["a"]', '[1,"a",2]'],
    ),
    ("huge maxItems", {"type": "array", "items": I, "maxItems": 2**64}, ["[]", "[1,2]"], ['["a"]']),
    (
        "items list of draft 4",
        {"$schema": D4, "items": [I, S], "additionalItems": False},
        ['[1,"a"]'],
        ['["a"]', '[1,"a",2]'],
    ),
    ("contains", {"type": "array", "contains": {"const": 5}}, ["[5]", "[1,5,2]"], ["[]", "[1,2]"]),
    (
        "contains counted",
        {
            "type": "array",
            "items": I,
            "contains": {"minimum": 5},
            "minContains": 2,
            "maxContains": 2,
        },
        ["[5,1,6]", "[7,8]"],
        ["[5]", "[5,6,7]"],
    ),
    (
        "contains and lengths",
        {"type": "array", "items": I, "contains": {"minimum": 5}, "minItems": 2, "maxItems": 3},
        ["[1,5]", "[5,1,1]"],
        ["[5]", "[1,1]", "[5,1,1,1]"],
    ),
    (
        "uniqueItems of an enum",
        {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
        ["[]", '["b","a"]'],
        ['["a","a"]'],
    ),
    ("anyOf", {"anyOf": [S, I]}, ['"x"', "1"], ["null"]),
    (
        "anyOf beside properties",
        closed({"a": I, "b": I}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        ['{"a":1}', '{"b":1}', '{"a":1,"b":1}'],
        ["{}", '{"a":"x"}'],
    ),
    (
        "oneOf of tagged objects",
        {
            "oneOf": [
                closed({"k": {"const": "a"}, "v": I}, required=["k"]),
                closed({"k": {"const": "b"}, "v": S}, required=["k"]),
            ]
        },
        ['{"k":"a","v":1}', '{"k":"b"}'],
        ['{"k":"a","v":"x"}', "{}"],
    ),
    (
        "oneOf of overlapping ranges",
        {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 5}]},
        ["-3", "9"],
        ["3", "0", "5"],
    ),
    (
        "oneOf required",
        closed({"a": I, "b": I}, oneOf=[{"required": ["a"]}, {"required": ["b"]}]),
        ['{"a":1}', '{"b":1}'],
        ['{"a":1,"b":2}', "{}"],
    ),
    (
        "allOf of objects",
        {"allOf": [obj({"a": I}, required=["a"]), obj({"b": S}, required=["b"])]},
        ['{"a":1,"b":"x"}'],
        ['{"a":1}', '{"a":1,"b":2}'],
    ),
    ("allOf of ranges", {"allOf": [I, {"minimum": 3}, {"maximum": 9}]}, ["3", "9"], ["2", "10"]),
    ("not a type", {"not": S}, ["1", "{}"], ['"a"']),
    ("not an enum", {**S, "not": {"enum": ["a", "bc"]}}, ['"b"', '"ab"'], ['"a"', '"bc"']),
    (
        "not required",
        closed({"a": I, "b": I}, **{"not": {"required": ["a", "b"]}}),
        ['{"a":1}', "{}"],
        ['{"a":1,"b":1}'],
    ),
    (
        "not an object",
        {"type": "object", "not": obj({"a": I}, required=["a"])},
        ["{}", '{"a":"x"}'],
        ['{"a":1}'],
    ),
    (
        "not additional keys",
        {"type": "object", "not": closed({"a": True})},
        ['{"b":1}', '{"a":1,"c":1}'],
        ["{}", '{"a":1}'],
    ),
    ("not an array", {"type": "array", "not": {"items": I}}, ['["a"]', '[1,"a"]'], ["[]", "[1]"]),
    ("not an integer", {**N, "not": I}, ["1.5"], ["1", "1.0", "-2"]),
    (
        "if, then, else",
        closed(
            {"k": {"enum": ["a", "b"]}, "v": True},
            required=["k"],
            **{
                "if": {"properties": {"k": {"const": "a"}}},
                "then": {"required": ["v"]},
                "else": {"maxProperties": 1},
            },
        ),
        ['{"k":"a","v":1}', '{"k":"b"}'],
        ['{"k":"a"}', '{"k":"b","v":1}'],
    ),
    (
        "dependencies",
        {**closed({"a": I, "b": I}), "$schema": D7, "dependencies": {"a": ["b"]}},
        ["{}", '{"b":1}', '{"a":1,"b":2}'],
        ['{"a":1}'],
    ),
    (
        "dependentRequired",
        closed({"a": I, "b": I}, dependentRequired={"a": ["b"]}),
        ['{"a":1,"b":2}'],
        ['{"a":1}'],
    ),
    (
        "dependentSchemas",
        closed({"a": I, "b": I}, dependentSchemas={"a": {"properties": {"b": {"minimum": 3}}}}),
        ['{"a":1,"b":3}', '{"b":1}'],
        ['{"a":1,"b":2}'],
    ),
    (
        "unevaluatedProperties",
        {"allOf": [obj({"a": I})], "type": "object", "unevaluatedProperties": False},
        ['{"a":1}', "{}"],
        ['{"b":1}'],
    ),
    (
        "unevaluated across anyOf",
        {
            "type": "object",
            "anyOf": [
                {"properties": {"a": I}, "required": ["a"]},
                {"properties": {"b": I}, "required": ["b"]},
            ],
            "unevaluatedProperties": False,
        },
        ['{"a":1}', '{"b":1}', '{"a":1,"b":1}'],
        ['{"a":1,"b":"x"}', '{"a":1,"c":1}'],
    ),
    (
        "unevaluatedItems",
        {"type": "array", "allOf": [{"prefixItems": [I]}], "unevaluatedItems": False},
        ["[1]"],
        ["[1,2]"],
    ),
    ("recursion", TREE, ['{"v":1,"c":[{"v":2,"c":[]}]}', "{}"], ['{"c":[{"w":1}]}']),
    ("reference to the root", closed({"c": {"$ref": "#"}}), ['{"c":{"c":{}}}'], ['{"c":{"d":1}}']),
    (
        "siblings of $ref count",
        {"$ref": "#/$defs/x", "minimum": 3, "$defs": {"x": I}},
        ["3"],
        ["2"],
    ),
    (
        "siblings of $ref in draft 7",
        {
            "$schema": D7,
            "properties": {"a": {"$ref": "#/definitions/x", "minimum": 3}},
            "definitions": {"x": I},
        },
        ['{"a":2}'],
        ['{"a":"x"}'],
    ),
    (
        "exclusiveMinimum of draft 4",
        {"$schema": D4, "type": "integer", "minimum": 0, "exclusiveMinimum": True},
        ["1"],
        ["0"],
    ),
    (
        "$recursiveRef",
        {
            "$schema": D19,
            "$id": "http://x/a",
            "$recursiveAnchor": True,
            "type": "object",
            "properties": {"c": {"$recursiveRef": "#"}},
            "additionalProperties": False,
        },
        ['{"c":{}}'],
        ['{"d":1}'],
    ),
    ("a control character in a key", closed({"k\x01": I}), ['{"k\\u0001":1}'], ['{"k\x01":1}']),
]


@pytest.mark.parametrize(
    ("schema", "inside", "outside"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_the_language_is_what_the_keyword_says(
    schema: Any, inside: list[str], outside: list[str]
) -> None:
    member = language(schema)
    assert [text for text in inside if not member(text)] == []
    assert [text for text in outside if member(text)] == []


SAMPLE = '{"a":[1,2],"b":{}}'
SPELLINGS = {
    "compact": ['{"a":[1,2],"b":{}}'],
    "spaced": ['{"a": [1, 2], "b": {}}'],
    "pretty": ['{\n  "a": [\n    1,\n    2\n  ],\n  "b": {}\n}'],
}
SPELLINGS["flexible"] = [text for texts in SPELLINGS.values() for text in texts]


@pytest.mark.parametrize("policy", SPELLINGS)
def test_each_whitespace_policy_has_its_spellings_and_no_others(policy: Any) -> None:
    member = language({"type": "object"}, SchemaOptions(whitespace=policy))
    for other, texts in SPELLINGS.items():
        for text in texts:
            assert member(text) == (text in SPELLINGS[policy]), (other, text)
    assert not member('{ "a" : 1}')
    assert not member('{"a":' + " " * 50 + "1}")
    assert not member("{} ")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        # Python's checker takes this for a pattern, our language of patterns does not hold it.
        ({"type": "string", "not": {"format": "regex"}}, '"b7{"'),
        ({"oneOf": [True, {"format": "regex"}]}, '"b7{"'),
        ({"not": {"format": "time"}}, '"12:00:00.1234567890123Z"'),
    ],
)
def test_what_a_checker_may_take_for_a_format_is_not_outside_of_it(schema: Any, text: str) -> None:
    assert not language({"anyOf": [{"const": 1}, schema]})(text)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"items": {"uniqueItems": True}}},
        {"not": {"properties": {"a": {"propertyNames": {"format": "regex"}}}}},
        {"not": {"enum": ["b7{"], "format": "regex"}},
        {"not": {"additionalProperties": {"enum": ["b7{"], "format": "regex"}}},
    ],
)
def test_what_has_no_complement_is_checked_after(schema: Any) -> None:
    answers = written(schema).answers
    assert {answer.answer for answer in answers} == {"checked"}


def test_an_alternative_of_another_kind_needs_no_complement() -> None:
    texts = {"type": ["string", "array"], "uniqueItems": True}
    found = written({"oneOf": [texts, {"type": "string", "minLength": 2}]})
    assert found.answers == ()
