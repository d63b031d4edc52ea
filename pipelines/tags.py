"""Structural tags as a constraint: free text with constrained islands, and the values in them.

Takes a YAML or JSON file with a list of parts (see `constrain.tags`; a schema or a grammar may be
the name of a file beside it); gives a Constraint. The value of an answer has a key for each part
with a `name`: text as text, an island's content as its value, islands of an `any_of` as a list of
`{"name": ..., "value": ...}`. Knows no documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constrain.limits import Limits
from constrain.schema import SchemaOptions
from constrain.tags import tags_grammar
from pipelines.columns import Column, Json, Scalar, Struct, column_for
from pipelines.errors import ConfigError
from pipelines.jsontext import JsonError, loads_strict, spell_json
from pipelines.schemas import load_schema
from pipelines.validate import Fault, Validator
from pipelines.wording import tags_task
from pipelines.yamltext import YamlError, loads_yaml

if TYPE_CHECKING:
    from constrain.tables import CompiledConstraint
    from constrain.vocabulary import Vocabulary

__all__ = ["TagsConstraint", "load_tags"]

_Data = Mapping[str, Any]
_FAULT = "the answer does not have the parts that the tags name"


def load_tags(path: str, options: SchemaOptions) -> TagsConstraint:
    """Read a file of tags, and let the engine read it before anything else does.

    Raises ConfigError when it is no such file, the engine's ConstraintError for what is in it.
    """
    try:
        data = loads_yaml(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"the tags cannot be read ({error.strerror})", place=path) from None
    except (UnicodeDecodeError, YamlError) as error:
        raise ConfigError(f"no YAML: {error}", place=path) from None
    if not isinstance(data, list) or not all(isinstance(part, dict) for part in data):
        raise ConfigError("this is no list of parts", place=path, remedy="begin each with '- '")
    parts = tuple(_with_files(part, Path(path).parent) for part in data)
    names = [part["name"] for part in parts if "name" in part]
    strings = [name for name in names if isinstance(name, str)]
    if not names or len(set(strings)) != len(names):
        remedy = "give each part that the record is to hold a 'name' of its own"
        fact = "no part has a name, or two have the same, or one is no text"
        raise ConfigError(fact, place=path, remedy=remedy)
    tags_grammar(parts, options, Limits())
    return TagsConstraint(parts, options)


def _with_files(part: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the part with what stands in files of their own laid in."""
    found = dict(part)
    if isinstance(found.get("any_of"), list):
        found["any_of"] = [
            _with_files(island, folder) if isinstance(island, dict) else island
            for island in found["any_of"]
        ]
    if isinstance(spec := found.get("schema"), str):
        beside = folder / spec
        found["schema"] = load_schema(str(beside) if beside.is_file() else spec).schema
    if isinstance(text := found.get("grammar"), str) and "\n" not in text:
        beside = folder / text
        found["grammar"] = beside.read_text(encoding="utf-8") if beside.is_file() else text
    return found


@dataclass(frozen=True)
class TagsConstraint:
    """Text in parts; `parts` as `constrain.compile_tags` takes them."""

    parts: tuple[_Data, ...]
    options: SchemaOptions
    is_json = False

    @property
    def column(self) -> Column:
        """Return the column type of its values."""
        return Struct({part["name"]: _column(part) for part in self.parts if "name" in part})

    @property
    def instruction(self) -> str:
        """Return what the model is told to do."""
        return tags_task(self.parts)

    @property
    def variables(self) -> dict[str, Any]:
        """Return what a prompt template may use of it."""
        return {"tags": self.parts}

    def compile(self, vocabulary: Vocabulary) -> CompiledConstraint:
        """Compile the tags, or take them from the store."""
        from constrain.compiler import compile_tags  # noqa: PLC0415
        from constrain.store import default_store  # noqa: PLC0415

        return compile_tags(self.parts, vocabulary, self.options, store=default_store())

    def parse(self, text: str) -> Any:
        """Return the values of the named parts; raise `JsonError` where the text has others."""
        for value, end in _read(self.parts, text, 0):
            if end == len(text):
                return value
        raise JsonError(_FAULT)

    def spell(self, value: Any) -> str:
        """Return the answer that says `value`, a value without faults."""
        return "".join(self._spelled(part, value.get(part.get("name"))) for part in self.parts)

    def faults(self, value: Any) -> Sequence[Fault]:
        """Return what parts are missing or of another kind, and what jsonschema says of islands."""
        named = [part for part in self.parts if "name" in part]
        if not isinstance(value, Mapping) or set(value) != {part["name"] for part in named}:
            return [Fault("", "tags", _FAULT)]
        return [
            Fault(f"/{part['name']}{fault.pointer}", fault.keyword, fault.reason)
            for part in named
            for fault in self._part_faults(part, value[part["name"]])
        ]

    def _part_faults(self, part: _Data, value: Any) -> Iterator[Fault]:
        if "any_of" in part:
            yield from self._called_faults(part["any_of"], value)
        elif "schema" in part:
            yield from self._validators[id(part)].faults(value)
        elif not isinstance(value, str):
            yield Fault("", "tags", "this is no text")
        elif value not in part.get("choices", (value,)):
            yield Fault("", "tags", f"{value!r} is none of the choices")

    def _called_faults(self, islands: Sequence[_Data], value: Any) -> Iterator[Fault]:
        named = {_island_name(island): island for island in islands}
        for i, one in enumerate(value if isinstance(value, list) else [None]):
            if not isinstance(one, Mapping) or set(one) != {"name", "value"}:
                yield Fault(f"/{i}", "tags", "this is no object with a name and a value")
            elif not isinstance(one["name"], str) or one["name"] not in named:
                yield Fault(f"/{i}/name", "tags", f"no island is called {one['name']!r}")
            else:
                for fault in self._part_faults(named[one["name"]], one["value"]):
                    yield Fault(f"/{i}/value{fault.pointer}", fault.keyword, fault.reason)

    @cached_property
    def _validators(self) -> dict[int, Validator]:
        islands = [one for part in self.parts for one in (part, *part.get("any_of", ()))]
        return {id(one): Validator(one["schema"]) for one in islands if "schema" in one}

    def _spelled(self, part: _Data, value: Any) -> str:
        if "any_of" in part:
            named = {_island_name(island): island for island in part["any_of"]}
            return "".join(self._spelled(named[one["name"]], one["value"]) for one in value or ())
        if "schema" in part:
            value = spell_json(value, self.options.whitespace)
        content = "" if value is None else str(value)
        return f"{part.get('begin', '')}{content}{part.get('end', '')}"


def _island_name(island: _Data) -> str:
    return str(island.get("name", island["begin"]))


def _column(part: _Data) -> Column:
    if "any_of" in part:
        return Json()
    return column_for(part["schema"], part["schema"]) if "schema" in part else Scalar("string")


def _read(parts: Sequence[_Data], text: str, at: int) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield (values, end) for each way to read `parts` from `at`, the first tag first."""
    if not parts:
        yield {}, at
        return
    for value, end in _read_part(parts[0], parts[1:], text, at):
        named = {parts[0]["name"]: value} if "name" in parts[0] else {}
        for more, last in _read(parts[1:], text, end):
            yield named | more, last


def _read_part(
    part: _Data, following: Sequence[_Data], text: str, at: int
) -> Iterator[tuple[Any, int]]:
    if "any_of" in part:
        yield _read_islands(part, text, at)
    elif "begin" in part:
        yield from _read_island(part, text, at)
    else:
        end = text.find(following[0]["begin"], at) if following else len(text)
        if end >= 0:
            yield text[at:end], end


def _read_island(part: _Data, text: str, at: int) -> Iterator[tuple[Any, int]]:
    if not text.startswith(part["begin"], at):
        return
    at += len(part["begin"])
    ending = part.get("end", "")
    if "schema" in part:
        yield from _read_json(text, at, ending)
        return
    ends = [m.start() for m in re.finditer(re.escape(ending), text[at:])] if ending else None
    for end in range(len(text) - at, -1, -1) if ends is None else ends:
        content = text[at : at + end]
        if "choices" not in part or content in part["choices"]:
            yield content, at + end + len(ending)


def _read_json(text: str, at: int, ending: str) -> Iterator[tuple[Any, int]]:
    try:
        _, end = json.JSONDecoder().raw_decode(text, at)
        if text.startswith(ending, end):
            yield loads_strict(text[at:end]), end + len(ending)
    except ValueError:
        return


def _read_islands(part: _Data, text: str, at: int) -> tuple[list[dict[str, Any]], int]:
    """Return the islands in free text, up to the end of the text."""
    begins = {island["begin"]: island for island in part["any_of"]}
    pattern = re.compile("|".join(map(re.escape, begins)))
    found = []
    while match := pattern.search(text, at):
        island = begins[match.group()]
        value, at = next(_read_island(island, text, match.start()), (None, -1))
        if at < 0:
            raise JsonError(_FAULT)
        found.append({"name": _island_name(island), "value": value})
    return found, len(text)
