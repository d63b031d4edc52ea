"""Function calls as a constraint: the name of a tool, and arguments that its parameters allow.

Takes a JSON or YAML file with a list of tools, in OpenAI's function format (`{"type": "function",
"function": {"name", "description", "parameters"}}`, or the inner object alone); gives a Constraint.
The value of an answer is `{"name": ..., "arguments": {...}}`, or a list of these. The parameters
of each tool are a schema of their own: `#/...` in them means themselves. Knows no documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from constrain.schema import SchemaOptions, schema_grammar
from pipelines.columns import Column, Json, List, Scalar, Struct
from pipelines.errors import ConfigError
from pipelines.jsontext import loads_strict, spell_json
from pipelines.schemas import load_data
from pipelines.schematree import in_schema_order
from pipelines.validate import Fault, Validator
from pipelines.wording import tools_task

if TYPE_CHECKING:
    from constrain.tables import CompiledConstraint
    from constrain.vocabulary import Vocabulary

__all__ = ["Tool", "ToolsConstraint", "load_tools"]

_REMEDY = 'write {"type": "function", "function": {"name": ..., "parameters": {...}}}'


@dataclass(frozen=True)
class Tool:
    """A function that may be called; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


def load_tools(path: str, parallel: int | None, options: SchemaOptions) -> ToolsConstraint:
    """Read a file of tools, and let the engine read it before anything else does.

    With `parallel` an answer is a list of one to so many calls. Raises ConfigError when it is no
    such file, the engine's ConstraintError for parameters that it refuses.
    """
    data = load_data(path)
    if not isinstance(data, list) or not data:
        raise ConfigError("this is no list of tools", place=path, remedy=_REMEDY)
    tools = tuple(_tool(given, f"{path}#/{i}") for i, given in enumerate(data))
    seen: set[str] = set()
    for i, tool in enumerate(tools):
        if tool.name in seen:
            fact = f"another tool is called {tool.name!r}, too"
            raise ConfigError(fact, place=f"{path}#/{i}", remedy="give each a name of its own")
        seen.add(tool.name)
    constraint = ToolsConstraint(tools, parallel, options)
    schema_grammar(constraint.schema, options)
    return constraint


def _tool(given: Any, place: str) -> Tool:
    inner = given.get("function") if isinstance(given, Mapping) and "function" in given else given
    if not isinstance(inner, Mapping):
        raise ConfigError("this is no tool", place=place, remedy=_REMEDY)
    name, about = inner.get("name"), inner.get("description") or ""
    if not isinstance(name, str) or not name:
        raise ConfigError("the tool has no name", place=place, remedy=_REMEDY)
    if not isinstance(about, str):
        raise ConfigError("its description is no text", place=place, remedy="put it in quotes")
    parameters = inner.get("parameters")
    if parameters is None:  # a function of nothing, says OpenAI's reference
        parameters = {"properties": {}, "additionalProperties": False}
    if not isinstance(parameters, Mapping):
        remedy = "write a JSON Schema of the arguments"
        raise ConfigError("its parameters are no schema", place=place, remedy=remedy)
    if (kind := parameters.get("type", "object")) != "object":
        fact = f"its parameters are of type {kind!r}, but arguments are an object"
        raise ConfigError(fact, place=place, remedy="write a schema of type 'object'")
    return Tool(name, about, {"type": "object", **parameters})


@dataclass(frozen=True)
class ToolsConstraint:
    """A call of one of the tools; with `parallel`, a list of one to so many calls."""

    tools: tuple[Tool, ...]
    parallel: int | None
    options: SchemaOptions
    is_json = True

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """Return the schema of an answer; each tool's parameters are a resource in it."""
        resources = {tool.name: f"urn:constrain:tool:{i}" for i, tool in enumerate(self.tools)}
        call = {"anyOf": [_call(name, resource) for name, resource in resources.items()]}
        held = {tool.name: _resource(tool.parameters, resources[tool.name]) for tool in self.tools}
        if self.parallel is None:
            return {**call, "$defs": held}
        return {
            "type": "array",
            "items": call,
            "minItems": 1,
            "maxItems": self.parallel,
            "$defs": held,
        }

    @property
    def column(self) -> Column:
        """Return the column type of its values; arguments, which differ by tool, are JSON."""
        call = Struct({"name": Scalar("string"), "arguments": Json()})
        return call if self.parallel is None else List(call)

    @property
    def instruction(self) -> str:
        """Return what the model is told to do."""
        return tools_task(self.variables["tools"], self.parallel)

    @property
    def variables(self) -> dict[str, Any]:
        """Return what a prompt template may use of it."""
        return {"tools": [asdict(tool) for tool in self.tools]}

    def compile(self, vocabulary: Vocabulary) -> CompiledConstraint:
        """Compile the schema of calls, or take it from the store."""
        from constrain.compiler import compile_schema  # noqa: PLC0415
        from constrain.store import default_store  # noqa: PLC0415

        return compile_schema(self.schema, vocabulary, self.options, store=default_store())

    def parse(self, text: str) -> Any:
        """Return the JSON value."""
        return loads_strict(text)

    def spell(self, value: Any) -> str:
        """Return the value as JSON, arguments in the order of the tool's parameters."""
        return spell_json(self._ordered(value), self.options.whitespace)

    def faults(self, value: Any) -> Sequence[Fault]:
        """Return what jsonschema says of each call's arguments, by its own tool's parameters."""
        if self.parallel is None:
            return list(self._call_faults(value, ""))
        if not isinstance(value, list) or not 1 <= len(value) <= self.parallel:
            return [Fault("", "tools", f"this is no list of 1 to {self.parallel} calls")]
        return [f for i, call in enumerate(value) for f in self._call_faults(call, f"/{i}")]

    def _call_faults(self, call: Any, place: str) -> Iterator[Fault]:
        if not isinstance(call, Mapping) or set(call) != {"name", "arguments"}:
            yield Fault(place, "tools", "this is no object with a name and arguments")
        elif not isinstance(call["name"], str) or call["name"] not in self._validators:
            yield Fault(f"{place}/name", "tools", f"no tool is called {call['name']!r}")
        else:
            for fault in self._validators[call["name"]].faults(call["arguments"]):
                yield Fault(f"{place}/arguments{fault.pointer}", fault.keyword, fault.reason)

    def _ordered(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._ordered(call) for call in value]
        own = self._parameters[value["name"]]
        arguments = in_schema_order(value.get("arguments"), own, own)
        return {"name": value["name"], **value, "arguments": arguments}

    @cached_property
    def _parameters(self) -> dict[str, Mapping[str, Any]]:
        return {tool.name: tool.parameters for tool in self.tools}

    @cached_property
    def _validators(self) -> dict[str, Validator]:
        return {name: Validator(own) for name, own in self._parameters.items()}


def _resource(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the parameters as a schema resource of that name, in any draft (4 reads `id`)."""
    return {**parameters, "id": name, "$id": name}


def _call(name: str, resource: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": {"$ref": resource}},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
