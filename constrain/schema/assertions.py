"""The keywords that speak of one kind of value, read into atoms.

Takes a schema in its place (`Location`) and a way to name its children (`child`); gives the atoms
that `type`, the number, string, array and object keywords of that one schema ask for. Malformed
values raise SchemaError at the keyword's pointer. Knows nothing of references or combinations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from constrain.errors import RegexError, SchemaError
from constrain.schema.document import Location, child_pointer
from constrain.schema.formats import format_language
from constrain.schema.intersect import listed
from constrain.schema.keywords import Draft
from constrain.schema.types import (
    ANY_TYPE,
    ArrayAtom,
    Claims,
    Items,
    KeySet,
    NumberRange,
    NumberSet,
    ObjectAtom,
    StringAtom,
    Type,
    Witness,
)
from constrain.schema.values import exact
from constrain.syntax.expr import Expr
from constrain.syntax.regex import parse_search

__all__ = ["Assertions"]

_KINDS: dict[str, Type] = {
    "null": Type(null=True),
    "boolean": Type(booleans=ANY_TYPE.booleans),
    "number": Type(numbers=ANY_TYPE.numbers),
    "integer": Type(numbers=NumberSet(ranges=(NumberRange(multiples=frozenset({Fraction(1)})),))),
    "string": Type(strings=ANY_TYPE.strings),
    "array": Type(arrays=ANY_TYPE.arrays),
    "object": Type(objects=ANY_TYPE.objects),
}


@dataclass(frozen=True, slots=True)
class Assertions:
    """Readers of one schema's keywords. `child(keyword, *parts)` names a child schema's claims."""

    location: Location
    child: Callable[..., Claims]
    tracked: bool = False

    # ------------------------------------------------------------ any type

    def kinds(self) -> list[Type]:
        """Return the kinds that `type` allows."""
        value = self._schema["type"]
        names = value if isinstance(value, list) else [value]
        for name in names:
            if not isinstance(name, str) or name not in _KINDS:
                remedy = f"write one of {', '.join(_KINDS)}, or a list of them"
                raise self._error("type", f"{name!r} is not a type", remedy)
        if "number" in names:
            names = [name for name in names if name != "integer"]
        return [_KINDS[name] for name in names]

    def listed(self, keyword: str) -> list[Any]:
        """Return the value of a keyword that must be a list."""
        value: list[Any] = self._of(keyword, list, "a list")
        return value

    # ------------------------------------------------------------ numbers

    def numbers(self) -> NumberRange:
        """Return what the number keywords ask of a number."""
        low, low_open = self._bound("minimum", "exclusiveMinimum", max)
        high, high_open = self._bound("maximum", "exclusiveMaximum", min)
        multiples = frozenset[Fraction]()
        step = self._number("multipleOf")
        if step is not None:
            if step <= 0:
                raise self._error("multipleOf", "the divisor is not positive", "write one above 0")
            multiples = frozenset({step})
        return NumberRange(low, high, low_open, high_open, multiples)

    def _bound(
        self, inclusive: str, exclusive: str, tighter: Callable[[Fraction, Fraction], Fraction]
    ) -> tuple[Fraction | None, bool]:
        closed = self._number(inclusive)
        if self.location.draft == Draft.DRAFT4:
            flag = self._schema.get(exclusive, False)
            if not isinstance(flag, bool):
                raise self._error(exclusive, "not true or false, as draft 4 has it", "")
            return closed, flag and closed is not None
        opened = self._number(exclusive)
        if opened is None or closed is None:
            return (closed, False) if opened is None else (opened, True)
        return tighter(closed, opened), tighter(closed, opened) == opened

    # ------------------------------------------------------------ strings

    def strings(self) -> StringAtom:
        """Return what the string keywords ask of a string."""
        languages: list[Expr] = []
        formats: tuple[str, ...] = ()
        if "pattern" in self._schema:
            pattern = self._of("pattern", str, "a text")
            languages.append(self.pattern(pattern, "pattern"))
        if "format" in self._schema:
            name = self._of("format", str, "a text")
            language = format_language(name)
            if language is not None:
                languages.append(language)
                formats = (name,)
        minimum, maximum = self._count("minLength") or 0, self._count("maxLength")
        return listed(StringAtom(tuple(languages), minimum, maximum, formats=formats))

    def pattern(self, text: str, *parts: str) -> Expr:
        """Return the language of texts in which a pattern is found; errors at the pointer."""
        try:
            return parse_search(text, dialect="ecma")
        except RegexError as error:
            pointer = child_pointer(self.location.pointer, *parts)
            raise SchemaError(str(error), pointer=pointer) from error

    # ------------------------------------------------------------ arrays

    def arrays(self) -> ArrayAtom:
        """Return what the array keywords ask of an array."""
        prefix, rest = self._item_keywords()
        items = [Items(i, i + 1, self.child(prefix, i)) for i in range(self._length(prefix))]
        evaluated: int | None = len(items)
        if rest in self._schema:
            evaluated = None
            items.append(Items(len(items), None, self.child(rest)))
        return ArrayAtom(
            tuple(item for item in items if item.claims),
            self._count("minItems") or 0,
            self._count("maxItems"),
            self._contains(),
            bool(self._flag("uniqueItems")),
            evaluated,
            self._evaluated_by(),
        )

    def _item_keywords(self) -> tuple[str, str]:
        """Return the keyword of the leading items and the one of the rest."""
        if isinstance(self._schema.get("items"), list):
            return "items", "additionalItems"
        return ("prefixItems" if self.location.draft >= Draft.DRAFT2020 else ""), "items"

    def _length(self, keyword: str) -> int:
        return len(self.listed(keyword)) if keyword in self._schema else 0

    def _contains(self) -> tuple[Witness, ...]:
        if "contains" not in self._schema or self.location.draft < Draft.DRAFT6:
            return ()
        counted = self.location.draft >= Draft.DRAFT2019
        minimum = self._count("minContains") if counted else None
        maximum = self._count("maxContains") if counted else None
        least = 1 if minimum is None else minimum
        if least == 0 and maximum is None:
            return ()
        return (Witness(self.child("contains"), 0, least, maximum),)

    def _evaluated_by(self) -> tuple[Claims, ...]:
        if "contains" in self._schema and self.location.draft >= Draft.DRAFT2020:
            return (self.child("contains"),)
        return ()

    # ------------------------------------------------------------ objects

    def objects(self) -> ObjectAtom:
        """Return what the object keywords ask of an object."""
        declared = tuple(self._map("properties"))
        patterns = {
            p: self.pattern(p, "patternProperties", p) for p in self._map("patternProperties")
        }
        named = tuple((name, self.child("properties", name)) for name in declared)
        rules = [
            (KeySet(patterns=(language,)), self.child("patternProperties", p))
            for p, language in patterns.items()
        ]
        known = KeySet(frozenset(declared), tuple(patterns.values()))
        if "additionalProperties" in self._schema:
            rules.append((known.opposite(), self.child("additionalProperties")))
        atom = ObjectAtom(
            order=declared,
            named=tuple(pair for pair in named if pair[1]),
            rules=tuple(rule for rule in rules if rule[1]),
            required=self.names("required") if "required" in self._schema else (),
            minimum=self._count("minProperties") or 0,
            maximum=self._count("maxProperties"),
        )
        return replace(atom, evaluated=self._evaluated(known)) if self.tracked else atom

    def _evaluated(self, known: KeySet) -> tuple[KeySet, ...]:
        if "additionalProperties" in self._schema:
            return (KeySet(outside=True),)
        return (known,) if known.names or known.patterns else ()

    def names(self, keyword: str, *parts: str) -> tuple[str, ...]:
        """Return a list of different property names; those that cannot be written stay in."""
        value = self._schema[keyword]
        for part in parts:
            value = value[part]
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            remedy = 'write a list of names, as in ["name"]'
            raise self._error(keyword, "not a list of property names", remedy, *parts)
        return tuple(dict.fromkeys(value))

    def _map(self, keyword: str) -> Mapping[str, Any]:
        if keyword not in self._schema:
            return {}
        remedy = 'write {"NAME": SCHEMA, ...}'
        value: Mapping[str, Any] = self._of(keyword, Mapping, "an object of schemas", remedy)
        return value

    # ------------------------------------------------------------ values of keywords

    @property
    def _schema(self) -> Mapping[str, Any]:
        schema: Mapping[str, Any] = self.location.schema
        return schema

    def _number(self, keyword: str) -> Fraction | None:
        if keyword not in self._schema:
            return None
        value = self._schema[keyword]
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise self._error(keyword, "not a number", "write a JSON number")
        return None if isinstance(value, float) and math.isinf(value) else exact(value)

    def _count(self, keyword: str) -> int | None:
        number = self._number(keyword)
        if number is None:
            return None
        if number < 0 or number.denominator != 1:
            raise self._error(keyword, "not a whole number of at least 0", "write a count")
        return int(number)

    def _flag(self, keyword: str) -> bool:
        value = self._schema.get(keyword, False)
        if not isinstance(value, bool):
            raise self._error(keyword, "not true or false", "write true or false")
        return value

    def _of(self, keyword: str, kind: type, what: str, remedy: str = "") -> Any:
        value = self._schema[keyword]
        if not isinstance(value, kind):
            raise self._error(keyword, f"not {what}", remedy or f"write {what}")
        return value

    def _error(self, keyword: str, fact: str, remedy: str, *parts: str) -> SchemaError:
        pointer = child_pointer(self.location.pointer, keyword, *parts)
        return SchemaError(f"{keyword!r} is malformed: {fact}", pointer=pointer, remedy=remedy)
