"""Schemas without an instance that only an automaton finds out about are named at their place."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.compiler import compile_schema
from constrain.errors import UnsatisfiableSchema
from tests.conformance.data import Trial
from tests.conformance.vocabularies import BYTES

EMPTY = {"type": "string", "pattern": "^a", "allOf": [{"pattern": "^[b-z]+$"}]}


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"properties": {"a": EMPTY}, "required": ["a"], "type": "object"}, "/properties/a"),
        (
            {"type": "array", "items": {"$ref": "#/$defs/e"}, "minItems": 1, "$defs": {"e": EMPTY}},
            "/$defs/e",
        ),
        ({"type": "string", "format": "date", "maxLength": 3}, ""),
        (
            {
                "type": "object",
                "required": ["n"],
                "properties": {"n": {"type": "string", "format": "ipv4", "pattern": "x"}},
            },
            "/properties/n",
        ),
    ],
)
def test_the_place_is_named(schema: Any, pointer: str) -> None:
    with pytest.raises(UnsatisfiableSchema) as caught:
        compile_schema(schema, BYTES)
    assert caught.value.pointer == pointer


def test_an_empty_branch_is_left_out() -> None:
    trial = Trial({"anyOf": [EMPTY, {"const": 1}]})
    assert trial.accepts("1")
    assert not trial.accepts('"')
