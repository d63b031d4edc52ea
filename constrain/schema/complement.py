"""The complement of a type, as types to intersect: every value that is not in it.

Takes and gives `Type`s. The complement of an atom is a union of atoms, one for each of its
statements that may fail; an object fails by a missing key, a key too many, or a key whose value
fails (a witness). Children stay claims, so nothing is unfolded. What has no complement here is
`uniqueItems`, and names or constants that a format tells about: their failure is taken for possible
always (`loose` tells).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from constrain.schema.formats import format_bound, format_language
from constrain.schema.types import (
    ANY_TYPE,
    FALSE,
    ArrayAtom,
    Items,
    KeySet,
    KeyWitness,
    NumberRange,
    NumberSet,
    ObjectAtom,
    StringAtom,
    Type,
    Witness,
    negated,
)
from constrain.syntax.expr import alt, complement, literal

__all__ = ["LOOSE", "failures", "loose", "object_failures"]

LOOSE = "uniqueItems, or a format of names or constants, has no complement here"


def loose(kind: Type) -> bool:
    """Return whether the complement of `kind` takes in more than it should."""
    return (
        any(atom.unique for atom in kind.arrays)
        or any(atom.inexact for atom in kind.strings)
        or any(map(_is_inexact, kind.objects))
    )


def _is_inexact(atom: ObjectAtom) -> bool:
    sets = (*(keys for keys, _ in atom.rules), *(witness.keys for witness in atom.witnesses))
    parts = (part for clause in atom.clauses for part in clause.atoms)
    return any(keys.inexact for keys in sets) or any(map(_is_inexact, parts))


def failures(kind: Type) -> Iterator[Type]:
    """Give types whose intersection is the complement of `kind`.

    One for each atom (the values of its kind that are not in it, and all other kinds), so that who
    intersects them can simplify after each.
    """
    yield replace(ANY_TYPE, null=not kind.null, booleans=frozenset({False, True}) - kind.booleans)
    if kind.numbers.points:
        yield replace(ANY_TYPE, numbers=NumberSet(ranges=tuple(_gaps(kind.numbers))))
    for interval in kind.numbers.ranges:
        yield replace(ANY_TYPE, numbers=NumberSet(ranges=tuple(_outside(interval))))
    for text in kind.strings:
        yield replace(ANY_TYPE, strings=tuple(_not_string(text)))
    for array in kind.arrays:
        yield replace(ANY_TYPE, arrays=tuple(_not_array(array)))
    for item in kind.objects:
        yield replace(ANY_TYPE, objects=tuple(object_failures(item)))


def _gaps(numbers: NumberSet) -> Iterator[NumberRange]:
    low: Fraction | None = None
    for value in sorted(v for v, _ in numbers.points):
        yield NumberRange(low, value, low_open=True, high_open=True)
        low = value
    yield NumberRange(low, None, low_open=True)


def _outside(interval: NumberRange) -> Iterator[NumberRange]:
    if interval.low is not None:
        yield NumberRange(high=interval.low, high_open=not interval.low_open)
    if interval.high is not None:
        yield NumberRange(low=interval.high, low_open=not interval.high_open)
    for step in sorted(interval.multiples):
        yield NumberRange(exclusions=frozenset({step}))
    for step in sorted(interval.exclusions):
        yield NumberRange(multiples=frozenset({step}))


def _not_string(atom: StringAtom) -> Iterator[StringAtom]:
    if atom.values is not None:
        yield StringAtom((complement(alt(*(literal(v) for v in atom.values))),))
        return
    bounds = {format_language(name): format_bound(name) for name in atom.formats}
    for language in atom.languages:
        yield StringAtom((complement(bounds.get(language, language)),))
    if atom.minimum:
        yield StringAtom(maximum=atom.minimum - 1)
    if atom.maximum is not None:
        yield StringAtom(minimum=atom.maximum + 1)


def _not_array(atom: ArrayAtom) -> Iterator[ArrayAtom]:
    if atom.minimum:
        yield ArrayAtom(maximum=atom.minimum - 1)
    if atom.maximum is not None:
        yield ArrayAtom(minimum=atom.maximum + 1)
    for items in atom.items:
        yield from _item_fails(items)
    for witness in atom.witnesses:
        if witness.minimum == 1:
            yield ArrayAtom(items=(Items(witness.start, None, negated(witness.claims)),))
        elif witness.minimum:
            yield ArrayAtom(witnesses=(replace(witness, minimum=0, maximum=witness.minimum - 1),))
        if witness.maximum is not None:
            more = replace(witness, minimum=witness.maximum + 1, maximum=None)
            yield ArrayAtom(witnesses=(more,))
    if atom.unique:
        yield ArrayAtom(minimum=2)


def _item_fails(items: Items) -> Iterator[ArrayAtom]:
    wrong = negated(items.claims)
    if items.stop is None:
        if wrong == ():
            yield ArrayAtom(minimum=items.start + 1)
        else:
            yield ArrayAtom(witnesses=(Witness(wrong, items.start),), minimum=items.start + 1)
        return
    for i in range(items.start, items.stop):
        yield ArrayAtom(items=(Items(i, i + 1, wrong),), minimum=i + 1)


def object_failures(atom: ObjectAtom) -> Iterator[ObjectAtom]:
    """Give atoms of the objects that are not in `atom`, one for each statement that may fail."""
    for name in atom.required:
        yield ObjectAtom(named=((name, FALSE),))
    for name, claims in atom.named:
        yield ObjectAtom(named=((name, negated(claims)),), required=(name,))
    if atom.minimum:
        yield ObjectAtom(maximum=atom.minimum - 1)
    if atom.maximum is not None:
        yield ObjectAtom(minimum=atom.maximum + 1)
    for keys, claims in atom.rules:
        yield ObjectAtom(witnesses=(KeyWitness(keys, negated(claims)),))
    for witness in atom.witnesses:
        yield _no_witness(witness.keys, witness)
    for clause in atom.clauses:
        if clause.denied:
            yield from clause.atoms
        else:
            yield ObjectAtom(clauses=(replace(clause, denied=True),))


def _no_witness(keys: KeySet, witness: KeyWitness) -> ObjectAtom:
    wrong = negated(witness.claims)
    if keys.outside or keys.patterns:
        return ObjectAtom(rules=((keys, wrong),))
    return ObjectAtom(named=tuple((name, wrong) for name in sorted(keys.names)))
