"""Structural tags as data: a list of parts, as one YAML or JSON file holds it, to a Grammar.

    - text: {max_length: 2000}                              free text
    - {begin: "<answer>", end: "</answer>", schema: {...}}  an island
    - any_of: [{begin: ..., end: ..., regex: ...}, ...]     islands in free text, the last part
      min: 0
      max: 3
      text: {max_length: 500}

An island holds one of `schema`, `regex`, `choices`, `grammar` or `text`. `name` belongs to the
reader of the result and is ignored here. Knows no files: schemas stand in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from constrain.errors import ConstraintError
from constrain.limits import Limits
from constrain.schema import SchemaOptions, schema_grammar
from constrain.syntax.expr import Grammar, alt, literal
from constrain.syntax.grammar import read_grammar
from constrain.syntax.inlining import with_fewer_rules
from constrain.syntax.left_recursion import without_left_recursion
from constrain.syntax.regex import parse_regex
from constrain.syntax.rounds import without_empty_rounds
from constrain.syntax.tagged import FreeText, Island, Islands, Part, tagged
from constrain.tables import Note

__all__ = ["tags_grammar"]

_CONTENTS = ("schema", "regex", "choices", "grammar", "text")
_ISLAND = frozenset({"begin", "end", "name", *_CONTENTS})
_ISLANDS = frozenset({"any_of", "min", "max", "text", "name"})
_MAX_ISLANDS = 1000


def tags_grammar(
    parts: Sequence[Mapping[str, Any]], options: SchemaOptions, limits: Limits
) -> tuple[Grammar, tuple[Note, ...]]:
    """Return the grammar of the parts, and notes on what is only checked after.

    Raises ConstraintError (place: the path of the part), or what the contents raise.
    """
    reader = _Reader(options, limits)
    if not parts:
        raise ConstraintError("there are no parts", place="tags", remedy="give at least one")
    read = [reader.part(part, f"tags/{number}") for number, part in enumerate(parts)]
    _check_order(read)
    return tagged(read), tuple(reader.notes)


class _Reader:
    def __init__(self, options: SchemaOptions, limits: Limits) -> None:
        self._options = options
        self._limits = limits
        self.notes: list[Note] = []

    def part(self, data: Mapping[str, Any], place: str) -> Part:
        if not isinstance(data, Mapping):
            raise ConstraintError("a part is a mapping", place=place)
        if "any_of" in data:
            return self._islands(data, place)
        if "begin" in data:
            return self._island(data, place)
        if "text" not in data:
            raise ConstraintError("a part has 'text', 'begin' or 'any_of'", place=place)
        _only(data, frozenset({"text", "name"}), place)
        return _free(data["text"], f"{place}/text")

    def _islands(self, data: Mapping[str, Any], place: str) -> Islands:
        _only(data, _ISLANDS, place)
        if not isinstance(data["any_of"], list) or not data["any_of"]:
            raise ConstraintError("this is no list of islands", place=f"{place}/any_of")
        islands = tuple(
            self._island(entry, f"{place}/any_of/{n}") for n, entry in enumerate(data["any_of"])
        )
        begins = [island.begin for island in islands]
        for one in begins:
            if sum(other.startswith(one) for other in begins) > 1:
                fact = f"{one!r} begins more than one of the tags"
                raise ConstraintError(
                    fact, place=place, remedy="tell them apart by their beginning"
                )
        least, most = data.get("min", 0), data.get("max")
        if not _is_count(least) or not (most is None or (_is_count(most) and most >= least)):
            raise ConstraintError("'min' and 'max' are no interval of counts", place=place)
        return Islands(islands, least, most, _free(data.get("text", {}), f"{place}/text"))

    def _island(self, data: Mapping[str, Any], place: str) -> Island:
        if not isinstance(data, Mapping):
            raise ConstraintError("an island is a mapping", place=place)
        _only(data, _ISLAND, place)
        given = [key for key in _CONTENTS if key in data]
        if len(given) != 1:
            listed = ", ".join(_CONTENTS)
            raise ConstraintError(f"give exactly one of {listed}", place=place)
        begin, end = data.get("begin"), data.get("end", "")
        if not isinstance(begin, str) or not begin or not isinstance(end, str):
            raise ConstraintError("'begin' (not empty) and 'end' are texts", place=place)
        content = self._content(given[0], data[given[0]], f"{place}/{given[0]}")
        return Island(begin, content, end)

    def _content(self, kind: str, data: Any, place: str) -> Grammar | FreeText:
        readers: dict[str, Callable[[Any, str], Grammar | FreeText]] = {
            "schema": self._schema,
            "regex": _regex,
            "choices": _choices,
            "grammar": self._grammar,
            "text": _free,
        }
        return readers[kind](data, place)

    def _schema(self, data: Any, place: str) -> Grammar:
        if not isinstance(data, Mapping | bool):
            raise ConstraintError("a schema is an object or a boolean", place=place)
        written = schema_grammar(data, self._options, self._limits)
        self.notes += [
            Note(f"{place}#{a.pointer}", a.keyword, a.answer, a.note) for a in written.answers
        ]
        return written.grammar

    def _grammar(self, data: Any, place: str) -> Grammar:
        if not isinstance(data, str):
            raise ConstraintError("a grammar is a text", place=place)
        grammar, remarks = read_grammar(data, None, self._limits)
        self.notes += [Note(f"{place}, line {r.line}", r.rule, "warning", r.text) for r in remarks]
        solid = without_empty_rounds(grammar)
        return with_fewer_rules(without_left_recursion(solid, self._limits))


def _regex(data: Any, place: str) -> Grammar:
    if not isinstance(data, str):
        raise ConstraintError("a regular expression is a text", place=place)
    return Grammar(parse_regex(data), {})


def _choices(data: Any, place: str) -> Grammar:
    if not isinstance(data, list) or not data or not all(isinstance(c, str) for c in data):
        raise ConstraintError("choices are a list of texts", place=place)
    return Grammar(alt(*map(literal, data)), {})


def _free(data: Any, place: str) -> FreeText:
    if not isinstance(data, Mapping):
        raise ConstraintError("write {} or {max_length: N}", place=place)
    _only(data, frozenset({"max_length"}), place)
    most = data.get("max_length")
    if most is not None and not _is_count(most):
        raise ConstraintError("'max_length' is no count", place=place)
    return FreeText(most)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _only(data: Mapping[str, Any], known: frozenset[str], place: str) -> None:
    unknown = sorted(set(data) - known)
    if unknown:
        remedy = f"use {', '.join(sorted(known))}"
        raise ConstraintError(f"{unknown[0]!r} is not known here", place=place, remedy=remedy)


def _check_order(parts: Sequence[Part]) -> None:
    """Refuse what would leave open where a part ends."""
    last = len(parts) - 1
    for number, part in enumerate(parts[:-1]):
        place = f"tags/{number}"
        if isinstance(part, Islands):
            raise ConstraintError("'any_of' stands last", place=place)
        if isinstance(part, FreeText) and not isinstance(parts[number + 1], Island):
            raise ConstraintError("after free text comes an island", place=place)
    for number, part in enumerate(parts):
        islands = part.options if isinstance(part, Islands) else (part,)
        for island in islands:
            if not isinstance(island, Island) or not isinstance(island.content, FreeText):
                continue
            if not island.end and (number < last or isinstance(part, Islands)):
                raise ConstraintError("free text needs an 'end'", place=f"tags/{number}")
