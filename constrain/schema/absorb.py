"""Absorption: dropping alternatives that another alternative contains.

Takes the object or array atoms of a union; gives those that no other one contains, as far as
comparing their statements tells. Complements multiply alternatives, and most of what they yield is
contained in something simpler, so this is what keeps `not` and `oneOf` small.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeVar

from constrain.schema.types import ArrayAtom, ObjectAtom

__all__ = ["absorbed"]

_MOST = 1_500
Atom = TypeVar("Atom", ObjectAtom, ArrayAtom)
Fact = Hashable


def absorbed(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Return the atoms without those that state all that another one states."""
    if not 1 < len(atoms) <= _MOST:
        return atoms
    facts = {atom: frozenset(_facts(atom)) for atom in atoms}
    kept: list[frozenset[Fact]] = []
    for candidate in sorted(set(facts.values()), key=len):
        if not any(simpler <= candidate for simpler in kept):
            kept.append(candidate)
    chosen = set(kept)
    found: dict[frozenset[Fact], Atom] = {}
    for atom in atoms:
        if facts[atom] in chosen:
            found.setdefault(facts[atom], atom)
    return tuple(found.values())


def _facts(atom: ObjectAtom | ArrayAtom) -> Iterator[Fact]:
    if atom.minimum:
        yield "minimum", atom.minimum
    if atom.maximum is not None:
        yield "maximum", atom.maximum
    for witness in atom.witnesses:
        yield "witness", witness
    yield from _object_facts(atom) if isinstance(atom, ObjectAtom) else _array_facts(atom)


def _object_facts(atom: ObjectAtom) -> Iterator[Fact]:
    yield "order", atom.order, atom.evaluated
    for name in atom.required:
        yield "required", name
    for name, claims in atom.named:
        yield from (("named", name, claim) for claim in claims)
    for rule in atom.rules:
        yield "rule", rule
    for clause in atom.clauses:
        yield "clause", clause


def _array_facts(atom: ArrayAtom) -> Iterator[Fact]:
    yield "evaluated", atom.evaluated, atom.evaluated_by
    for items in atom.items:
        yield from (("items", items.start, items.stop, claim) for claim in items.claims)
    if atom.unique:
        yield "unique"
