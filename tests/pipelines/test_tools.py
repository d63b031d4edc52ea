"""Function calls in a run: each record names one tool, and its arguments are that tool's."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from constrain import MaskCache, Matcher, compile_schema
from constrain.errors import ConstraintError
from constrain.schema import SchemaOptions
from pipelines.columns import Json, List, Scalar, Struct
from pipelines.errors import ConfigError
from pipelines.tools import ToolsConstraint, load_tools
from tests.conformance.vocabularies import BYTES
from tests.sampling import sampled

COMPACT = SchemaOptions(whitespace="compact", strict=True, distinct_keys=True)
EXAMPLE = Path(__file__).resolve().parents[2] / "schemas" / "tools" / "home.json"


def twenty() -> list[dict[str, Any]]:
    """Return 20 functions; each refers to definitions of its own by the same pointers."""
    return [
        {
            "type": "function",
            "function": {
                "name": f"tool_{n}",
                "description": f"Does thing {n}.",
                "parameters": {
                    "properties": {
                        "level": {"$ref": "#/$defs/level"},
                        f"own_{n}": {"enum": [n, None]},
                        "next": {"$ref": "#"},
                    },
                    "required": [f"own_{n}"],
                    "additionalProperties": False,
                    "$defs": {"level": {"type": "integer", "minimum": n, "maximum": n + 3}},
                },
            },
        }
        for n in range(20)
    ]


def load(folder: Path, tools: Any, parallel: int | None = None) -> ToolsConstraint:
    path = folder / "tools.json"
    path.write_text(json.dumps(tools), encoding="utf-8")
    return load_tools(str(path), parallel, COMPACT)


def check(tools: Sequence[dict[str, Any]], call: Any) -> str:
    """Check a call against its own tool's parameters, by jsonschema alone; return its name."""
    own = {t["function"]["name"]: t["function"]["parameters"] for t in tools}
    assert set(call) == {"name", "arguments"}
    assert isinstance(call["arguments"], dict)
    jsonschema.validate(call["arguments"], own[call["name"]])
    return str(call["name"])


def test_every_record_names_one_of_twenty_tools_and_has_its_arguments(tmp_path: Path) -> None:
    constraint = load(tmp_path, twenty())
    masks = MaskCache(compile_schema(constraint.schema, BYTES, constraint.options))
    rng, seen = random.Random(1), set()
    for text in sampled(masks, rng, 40):
        value = constraint.parse(text)
        seen.add(check(twenty(), value))
        assert not constraint.faults(value)
        assert constraint.parse(constraint.spell(value)) == value
    assert len(seen) > 5


def test_parallel_calls_are_a_list_of_bounded_length(tmp_path: Path) -> None:
    constraint = load(tmp_path, twenty(), parallel=2)
    masks = MaskCache(compile_schema(constraint.schema, BYTES, constraint.options))
    rng, lengths = random.Random(2), set()
    for text in sampled(masks, rng, 15):
        value = constraint.parse(text)
        lengths.add(len(value))
        assert all(check(twenty(), call) for call in value)
        assert not constraint.faults(value)
    assert lengths == {1, 2}
    assert constraint.faults([])
    assert constraint.column == List(Struct({"name": Scalar("string"), "arguments": Json()}))


def test_a_call_is_judged_by_its_own_tool(tmp_path: Path) -> None:
    constraint = load(tmp_path, twenty())
    good = {"name": "tool_3", "arguments": {"level": 6, "own_3": 3, "next": {"own_3": None}}}
    matcher = Matcher(compile_schema(constraint.schema, BYTES, constraint.options))
    assert matcher.accept_bytes(constraint.spell(good).encode())
    assert matcher.is_accepting()
    assert not constraint.faults(good)
    bad = {"name": "tool_4", "arguments": good["arguments"]}
    assert {fault.pointer for fault in constraint.faults(bad)} >= {"/arguments"}
    assert [f.pointer for f in constraint.faults({"name": "x", "arguments": {}})] == ["/name"]
    assert [f.pointer for f in constraint.faults({"name": ["x"], "arguments": {}})] == ["/name"]
    assert constraint.faults({"name": "tool_3"})
    assert constraint.faults([good])


def test_the_bare_form_and_no_parameters(tmp_path: Path) -> None:
    constraint = load(tmp_path, [{"name": "stop"}, {"name": "go", "parameters": {}}])
    assert not constraint.faults({"name": "stop", "arguments": {}})
    assert constraint.faults({"name": "stop", "arguments": {"a": 1}})
    assert not constraint.faults({"name": "go", "arguments": {"a": 1}})


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ({}, "no list of tools"),
        ([], "no list of tools"),
        ([3], "#/0: this is no tool"),
        ([{"type": "function", "function": {}}], "#/0: the tool has no name"),
        ([{"name": "a"}, {"name": "a"}], "#/1: another tool is called 'a'"),
        ([{"name": "a", "description": 3}], "#/0: its description is no text"),
        ([{"name": "a", "parameters": []}], "#/0: its parameters are no schema"),
        ([{"name": "a", "parameters": {"type": "string"}}], "#/0: its parameters are of type"),
        ([{"name": "a", "parameters": {"type": ["object", "null"]}}], "#/0: its parameters are of"),
    ],
)
def test_what_is_no_tool_is_named_at_its_place(tmp_path: Path, tools: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load(tmp_path, tools)


@pytest.mark.parametrize(
    "parameters",
    [
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"a": {"$ref": "#/definitions/n"}},
            "definitions": {"n": {"type": "integer", "minimum": 3, "exclusiveMinimum": True}},
        },
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": {"$ref": "#/definitions/n"}},
            "definitions": {"n": {"type": "integer", "exclusiveMinimum": 3}},
        },
        {
            "properties": {"a": {"$ref": "#/$defs/n"}, "id": {}},
            "$defs": {"n": {"type": "integer", "exclusiveMinimum": 3}},
        },
    ],
)
def test_parameters_of_any_draft_are_their_own_resource(tmp_path: Path, parameters: Any) -> None:
    constraint = load(tmp_path, [{"name": "f", "parameters": parameters}])
    compiled = compile_schema(constraint.schema, BYTES, constraint.options)
    assert not compiled.notes
    for number in (2, 3, 4):
        call = {"name": "f", "arguments": {"a": number}}
        matcher = Matcher(compiled)
        matcher.accept_bytes(constraint.spell(call).encode())
        assert matcher.is_accepting() == (number == 4) == (not constraint.faults(call))


def test_bad_parameters_are_named_at_their_pointer(tmp_path: Path) -> None:
    bad = [{"name": "a", "parameters": {"properties": {"x": {"type": "strin"}}}}]
    with pytest.raises(ConstraintError, match=r"#/\$defs/a/properties/x/type"):
        load(tmp_path, bad)


def test_the_example_tells_the_model_its_tools() -> None:
    constraint = load_tools(str(EXAMPLE), None, SchemaOptions(strict=True, distinct_keys=True))
    for tool in constraint.tools:
        assert f"{tool.name}: {tool.description}" in constraint.instruction
        assert all(name in constraint.instruction for name in tool.parameters["properties"])
