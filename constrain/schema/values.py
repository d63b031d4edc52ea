"""Constants as types: what `const` and `enum` allow, as atoms that intersect like all others.

Takes JSON values (as `json` reads them); gives Types. Equality is JSON's: 1 equals 1.0, and no
number equals a boolean. An object or array constant becomes a closed atom whose children must
equal its own, so that a sibling schema narrows it in the same way as anything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from constrain.schema.types import (
    FALSE,
    ArrayAtom,
    Equals,
    Items,
    KeySet,
    NumberSet,
    ObjectAtom,
    StringAtom,
    Type,
)

__all__ = ["constants", "exact", "json_text", "writable"]


def json_text(value: Any) -> str:
    """Return the compact JSON spelling: raw UTF-8, short escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def exact(number: float) -> Fraction:
    """Return a JSON number as it was written, not as a binary float rounds it."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def writable(text: str) -> bool:
    """Return whether `text` has a UTF-8 spelling (no lone surrogates)."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def constants(values: Iterable[Any]) -> Type:
    """Return the type of the given values; those that cannot be written are left out."""
    null, booleans = False, set[bool]()
    points: dict[Fraction, str] = {}
    strings: dict[str, None] = {}
    arrays: dict[ArrayAtom, None] = {}
    objects: dict[ObjectAtom, None] = {}
    for value in values:
        if value is None:
            null = True
        elif isinstance(value, bool):
            booleans.add(value)
        elif isinstance(value, int | float):
            points.setdefault(exact(value), json_text(value))
        elif isinstance(value, str):
            if writable(value):
                strings[value] = None
        elif isinstance(value, Mapping):
            objects[_object(value)] = None
        else:
            arrays[_array(value)] = None
    return Type(
        null=null,
        booleans=frozenset(booleans),
        numbers=NumberSet(points=tuple(points.items())),
        strings=(StringAtom(values=tuple(strings)),) if strings else (),
        arrays=tuple(arrays),
        objects=tuple(objects),
    )


def _object(value: Mapping[str, Any]) -> ObjectAtom:
    keys = tuple(value)
    return ObjectAtom(
        order=keys,
        named=tuple((k, (Equals(json_text(v)),)) for k, v in value.items()),
        rules=((KeySet(frozenset(keys), outside=True), FALSE),),
        required=keys,
    )


def _array(value: list[Any]) -> ArrayAtom:
    items = tuple(Items(i, i + 1, (Equals(json_text(v)),)) for i, v in enumerate(value))
    return ArrayAtom(items=items, minimum=len(value), maximum=len(value))
