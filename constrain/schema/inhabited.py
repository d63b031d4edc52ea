"""Dropping alternatives that no value can fulfil, as far as a short look into the children shows.

Takes a Type and a way to peek at a child's type (None: unknown); gives the Type without the atoms
that are seen to be empty. Never drops an atom that has a value; may keep one that has none, which
the grammar's own pruning finds later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from constrain.schema.keys import KeyClaims, closed_names, holds_key, known_names
from constrain.schema.types import ArrayAtom, Claims, Negated, Never, ObjectAtom, Type, both

__all__ = ["contradicts", "pruned"]

Peek = Callable[[Claims], Type | None]
_ITEMS_LOOKED_AT = 8


def contradicts(claims: Claims) -> bool:
    """Return whether the claims deny each other as they stand."""
    present = frozenset(claims)
    return any(
        isinstance(claim, Never)
        or (isinstance(claim, Negated) and present.issuperset(claim.claims))
        for claim in claims
    )


def pruned(kind: Type, peek: Peek) -> Type:
    """Return the type without the array and object atoms that are seen to be empty."""
    arrays = tuple(a for a in kind.arrays if _array_possible(a, peek))
    objects = tuple(o for o in kind.objects if _object_possible(o, peek))
    if len(arrays) == len(kind.arrays) and len(objects) == len(kind.objects):
        return kind
    return replace(kind, arrays=arrays, objects=objects)


def _possible(claims: Claims, peek: Peek) -> bool:
    if contradicts(claims):
        return False
    found = peek(claims) if claims else None
    return found is None or bool(found)


def _object_possible(atom: ObjectAtom, peek: Peek) -> bool:
    claims = KeyClaims(atom)
    if not all(_possible(claims.of(name), peek) for name in atom.required):
        return False
    names = closed_names(atom)
    if names is None:
        return True
    for witness in atom.witnesses:
        among = (name for name in known_names(atom) if holds_key(witness.keys, name))
        if not any(_possible(both(claims.of(name), witness.claims), peek) for name in among):
            return False
    return len(names) >= atom.minimum


def _array_possible(atom: ArrayAtom, peek: Peek) -> bool:
    for i in range(min(atom.minimum, _ITEMS_LOOKED_AT)):
        claims: Claims = ()
        for items in atom.items:
            if items.start <= i and (items.stop is None or i < items.stop):
                claims = both(claims, items.claims)
        if not _possible(claims, peek):
            return False
    return True
