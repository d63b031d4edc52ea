"""Combinations of object schemas that would multiply if they were written out one by one."""

from __future__ import annotations

from itertools import product
from typing import Any

import jsonschema
import pytest

from constrain.errors import UnsupportedSchema
from constrain.schema import SchemaOptions, schema_grammar
from constrain.schema.decisions import FALSE, TRUE, Decisions
from tests.expr_oracle import accepts
from tests.schema.languages import compact, orders

STRICT = SchemaOptions(whitespace="compact", strict=True)


def one_of_each(pairs: int) -> dict[str, Any]:
    """Return 3 ** pairs alternatives."""
    groups = [{"anyOf": [{"required": [f"{name}{i}"]} for name in "abc"]} for i in range(pairs)]
    names = [f"{name}{i}" for i in range(pairs) for name in "abc"]
    properties = {name: {"type": "integer"} for name in names}
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "allOf": groups,
    }


def test_ten_groups_of_three_required_names_are_exact() -> None:
    grammar = schema_grammar(one_of_each(10), STRICT).grammar
    full = {f"b{i}": 1 for i in range(10)}
    assert accepts(grammar, compact(full))
    assert accepts(grammar, compact({**full, "c9": 2}))
    for i in range(10):
        assert not accepts(grammar, compact({k: v for k, v in full.items() if k != f"b{i}"}))


def test_overlapping_branches_of_one_of_are_exact() -> None:
    kinds = ["integer", "string", "boolean", "null"]
    branches = [
        {"properties": {name: {"type": kind} for name, kind in zip("abcdef", types, strict=True)}}
        for types in (kinds[i:] + kinds[:i] + kinds[i : i + 2] for i in range(2))
    ]
    branches += [{"required": ["a", "f"]}, {"required": ["b", "e"]}]
    schema = {"type": "object", "oneOf": branches}
    validator = jsonschema.Draft202012Validator(schema)
    grammar = schema_grammar(schema, STRICT).grammar
    seen = set()
    for values in product([None, 1, "x"], repeat=4):
        value = {k: v for k, v in zip("abef", values, strict=True) if v is not None}
        seen.add(validator.is_valid(value))
        found = any(accepts(grammar, text) for text in orders(value))
        assert found == validator.is_valid(value), value
    assert seen == {True, False}


def test_six_closed_branches_that_share_keys_are_exact() -> None:
    names = "abcdef"
    branches = [
        {
            "properties": {"kind": {"enum": [name]}, "size": {"type": "integer"}, name: True},
            "required": ["size"],
            "additionalProperties": False,
        }
        for name in names
    ]
    schema = {"type": "object", "oneOf": branches}
    validator = jsonschema.Draft202012Validator(schema)
    grammar = schema_grammar(schema, STRICT).grammar
    seen = set()
    for kind, first, second, size in product([None, "a", "f", "x"], "abz", "bz", [None, 1, "x"]):
        value = {"kind": kind, "size": size, first: 0, second: 1}
        value = {key: held for key, held in value.items() if held is not None}
        seen.add(validator.is_valid(value))
        found = any(accepts(grammar, text) for text in orders(value))
        assert found == validator.is_valid(value), value
    assert seen == {True, False}


def test_seven_patterns_for_one_key_are_exact() -> None:
    branches = [{"properties": {"k": {"pattern": letter}}} for letter in "abcdefg"]
    schema = {
        "type": "object",
        "properties": {"k": {"type": "string"}},
        "required": ["k"],
        "oneOf": branches,
    }
    grammar = schema_grammar(schema, STRICT).grammar
    assert all(accepts(grammar, compact({"k": f"x{letter}y"})) for letter in "abcdefg")
    assert not accepts(grammar, compact({"k": "xy"}))
    assert not accepts(grammar, compact({"k": "ag"}))


def test_what_still_needs_too_many_states_is_checked_after() -> None:
    names = [f"n{i}" for i in range(60)]
    pairs = [
        {"anyOf": [{"properties": {name: {"const": True}}, "required": [name]} for name in pair]}
        for pair in zip(names[:30], names[30:], strict=True)
    ]
    properties = {name: {"type": "boolean"} for name in names}
    schema = {"type": "object", "properties": properties, "allOf": pairs}
    with pytest.raises(UnsupportedSchema, match="too many states"):
        schema_grammar(schema, STRICT)
    assert [answer.answer for answer in schema_grammar(schema).answers] == ["checked"]


def test_equal_functions_are_one() -> None:
    decisions = Decisions()
    a, b = decisions.fact(0), decisions.fact(1)
    neither = decisions.all((decisions.negated(a), decisions.negated(b)))
    either = decisions.negated(neither)
    assert decisions.all((either, decisions.negated(a))) == decisions.all((b, decisions.negated(a)))
    assert decisions.all((a, decisions.negated(a))) == FALSE
    assert decisions.given(either, 0, holds=True) == TRUE
    assert decisions.given(either, 0, holds=False) == b
    assert list(decisions.ways(decisions.all((a, b)))) == [{0: True, 1: True}]
