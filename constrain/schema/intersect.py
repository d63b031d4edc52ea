"""Set algebra of types: intersection and union, atom by atom.

Takes and gives `Type`s; asks nobody what a claim means. Intersections of arrays and objects put
their claims side by side, in order of appearance. Emptiness is recognised where it shows in the
atoms themselves; what only shows in the children is left to `normalize`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from constrain.schema.formats import format_bound
from constrain.schema.membership import contains
from constrain.schema.strings import content
from constrain.schema.types import (
    ANY_OBJECT,
    ANY_TYPE,
    FALSE,
    ArrayAtom,
    Claims,
    Clause,
    NumberRange,
    NumberSet,
    ObjectAtom,
    StringAtom,
    Type,
    both,
)
from constrain.syntax.expr import NOTHING, alt
from constrain.syntax.languages import texts

A = TypeVar("A")
_MAX_STRING_PAIRS = 8
# Patterns of so many texts are lists of values, as of an enum.
_MAX_LISTED = 40

__all__ = ["holds", "intersection", "listed", "narrowed", "objects_met", "range_holds", "union"]


def intersection(left: Type, right: Type) -> Type:
    """Return the values of both types; the left one's order of keys comes first."""
    if left is ANY_TYPE or left == right:
        return right
    if right is ANY_TYPE:
        return left
    return Type(
        null=left.null and right.null,
        booleans=left.booleans & right.booleans,
        numbers=_numbers(left.numbers, right.numbers),
        strings=_pairs(*_few(left.strings, right.strings), _strings),
        arrays=_pairs(left.arrays, right.arrays, _arrays),
        objects=_pairs(left.objects, right.objects, objects_met),
    )


def union(types: Iterable[Type]) -> Type:
    """Return the values of any of the types."""
    every = list(types)
    if len(every) == 1:
        return every[0]
    return Type(
        null=any(t.null for t in every),
        booleans=frozenset().union(*(t.booleans for t in every)),
        numbers=_joined(t.numbers for t in every),
        strings=_strings_joined(a for t in every for a in t.strings),
        arrays=tuple(dict.fromkeys(a for t in every for a in t.arrays)),
        objects=_objects_joined(a for t in every for a in t.objects),
    )


def _pairs(
    left: tuple[A, ...], right: tuple[A, ...], meet: Callable[[A, A], A | None]
) -> tuple[A, ...]:
    found = (meet(a, b) for a in left for b in right)
    return tuple(dict.fromkeys(atom for atom in found if atom is not None))


# ---------------------------------------------------------------- numbers


def _numbers(left: NumberSet, right: NumberSet) -> NumberSet:
    if not left or not right:
        return NumberSet()
    points = dict(left.points)
    kept = {v: points[v] for v, _ in right.points if v in points}
    kept |= dict(_within(left.points, right.ranges))
    kept |= dict(_within(right.points, left.ranges))
    return NumberSet(tuple(kept.items()), _pairs(left.ranges, right.ranges, _ranges))


def _within(
    points: tuple[tuple[Fraction, str], ...], ranges: tuple[NumberRange, ...]
) -> Iterator[tuple[Fraction, str]]:
    """Give the points in any range; an integer is spelled as one (draft 4 takes no 1.0)."""
    for value, spelled in points:
        holding = [r for r in ranges if range_holds(r, value)]
        if holding:
            whole = value.denominator == 1 and all(1 in r.multiples for r in holding)
            yield value, str(value) if whole else spelled


def _joined(sets: Iterable[NumberSet]) -> NumberSet:
    points: dict[Fraction, str] = {}
    ranges: dict[NumberRange, None] = {}
    for each in sets:
        points = dict(each.points) | points
        ranges |= dict.fromkeys(each.ranges)
    if NumberRange() in ranges:
        return NumberSet(tuple(points.items()), (NumberRange(),))
    return NumberSet(tuple(points.items()), tuple(ranges))


def range_holds(interval: NumberRange, value: Fraction) -> bool:
    """Return whether a number is in the range."""
    low, high = interval.low, interval.high
    if low is not None and (value < low or (interval.low_open and value == low)):
        return False
    if high is not None and (value > high or (interval.high_open and value == high)):
        return False
    return all((value / m).denominator == 1 for m in interval.multiples) and not any(
        (value / m).denominator == 1 for m in interval.exclusions
    )


def _ranges(left: NumberRange, right: NumberRange) -> NumberRange | None:
    low, low_open = left.low, left.low_open
    if right.low is not None and (low is None or (right.low, right.low_open) > (low, low_open)):
        low, low_open = right.low, right.low_open
    high, high_open = left.high, left.high_open
    if right.high is not None and (
        high is None or (right.high, not right.high_open) < (high, not high_open)
    ):
        high, high_open = right.high, right.high_open
    met = NumberRange(
        low,
        high,
        low_open,
        high_open,
        left.multiples | right.multiples,
        left.exclusions | right.exclusions,
    )
    return None if _is_empty(met) else met


def _is_empty(interval: NumberRange) -> bool:
    if any((m / e).denominator == 1 for m in interval.multiples for e in interval.exclusions):
        return True
    low, high = interval.low, interval.high
    if low is None or high is None:
        return False
    if low > high or (low == high and (interval.low_open or interval.high_open)):
        return True
    if low == high:
        return not range_holds(interval, low)
    return any(_no_multiple(interval, m) for m in interval.multiples)


def _no_multiple(interval: NumberRange, step: Fraction) -> bool:
    if interval.low is None or interval.high is None:
        return False
    first, last = -(-interval.low // step), interval.high // step
    first += interval.low_open and first * step == interval.low
    last -= interval.high_open and last * step == interval.high
    return first > last


# ---------------------------------------------------------------- strings


def _few(
    left: tuple[StringAtom, ...], right: tuple[StringAtom, ...]
) -> tuple[tuple[StringAtom, ...], tuple[StringAtom, ...]]:
    """Return both unions, each as one language where their product would be large."""
    if len(left) * len(right) <= _MAX_STRING_PAIRS:
        return left, right
    return _one_language(left), _one_language(right)


def _one_language(atoms: tuple[StringAtom, ...]) -> tuple[StringAtom, ...]:
    if any(atom.formats for atom in atoms):
        return atoms
    listed = tuple(atom for atom in atoms if atom.values is not None)
    others = [content(atom) for atom in atoms if atom.values is None]
    return (*listed, StringAtom((alt(*others),))) if len(others) > 1 else atoms


def _strings(left: StringAtom, right: StringAtom) -> StringAtom | None:
    if left.values is not None or right.values is not None:
        return _listed(left, right) if left.values is not None else _listed(right, left)
    minimum = max(left.minimum, right.minimum)
    maximum = _least(left.maximum, right.maximum)
    if maximum is not None and maximum < minimum:
        return None
    languages = tuple(dict.fromkeys((*left.languages, *right.languages)))
    formats = tuple(dict.fromkeys((*left.formats, *right.formats)))
    return StringAtom(languages, minimum, maximum, formats=formats)


def _listed(listed: StringAtom, other: StringAtom) -> StringAtom | None:
    assert listed.values is not None
    if other.values is not None:
        among = frozenset(other.values)
        found = StringAtom(values=tuple(v for v in listed.values if v in among))
    else:
        found = _of_values(listed.values, other)
    found = replace(found, inexact=found.inexact or listed.inexact or other.inexact)
    return found if found.values or found.inexact else None


def listed(atom: StringAtom) -> StringAtom:
    """Return the atom as a list of values where one of its languages has few texts."""
    for language in atom.languages:
        values = texts(language, _MAX_LISTED)
        if values is not None:
            return _of_values(values, atom)
    return atom


def _of_values(values: tuple[str, ...], atom: StringAtom) -> StringAtom:
    """Return those of the values that are in the atom."""
    kept = tuple(v for v in values if holds(atom, v))
    formats = (format_bound(name) for name in atom.formats)
    left_out = len(kept) < len(values) and any(bound != NOTHING for bound in formats)
    return StringAtom(values=kept, inexact=left_out)


def holds(atom: StringAtom, text: str) -> bool:
    """Return whether a text is in the atom."""
    if atom.values is not None:
        return text in atom.values
    if len(text) < atom.minimum or (atom.maximum is not None and len(text) > atom.maximum):
        return False
    return all(contains(language, text) for language in atom.languages)


def _strings_joined(atoms: Iterable[StringAtom]) -> tuple[StringAtom, ...]:
    listed: dict[str, None] = {}
    others: dict[StringAtom, None] = {}
    inexact = False
    for atom in atoms:
        if atom.values is not None:
            listed |= dict.fromkeys(atom.values)
            inexact |= atom.inexact
        else:
            others[atom] = None
    if StringAtom() in others:
        return (StringAtom(),)
    values = (StringAtom(values=tuple(listed), inexact=inexact),) if listed or inexact else ()
    return (*values, *others)


# ---------------------------------------------------------------- arrays and objects


def _arrays(left: ArrayAtom, right: ArrayAtom) -> ArrayAtom | None:
    minimum, maximum = max(left.minimum, right.minimum), _least(left.maximum, right.maximum)
    if maximum is not None and maximum < minimum:
        return None
    evaluated = (
        None
        if left.evaluated is None or right.evaluated is None
        else max(left.evaluated, right.evaluated)
    )
    return ArrayAtom(
        tuple(dict.fromkeys((*left.items, *right.items))),
        minimum,
        maximum,
        tuple(dict.fromkeys((*left.witnesses, *right.witnesses))),
        left.unique or right.unique,
        evaluated,
        tuple(dict.fromkeys((*left.evaluated_by, *right.evaluated_by))),
    )


def objects_met(left: ObjectAtom, right: ObjectAtom) -> ObjectAtom | None:
    """Return the objects in both atoms, or None if their own statements deny each other."""
    if left == ANY_OBJECT:
        return right
    if right == ANY_OBJECT:
        return left
    minimum, maximum = max(left.minimum, right.minimum), _least(left.maximum, right.maximum)
    if maximum is not None and maximum < minimum:
        return None
    named: dict[str, Claims] = dict(left.named)
    for name, claims in right.named:
        named[name] = both(named.get(name, ()), claims)
    required = tuple(dict.fromkeys((*left.required, *right.required)))
    if any(named.get(name) == FALSE for name in required):
        return None
    return ObjectAtom(
        tuple(dict.fromkeys((*left.order, *right.order))),
        tuple(named.items()),
        tuple(dict.fromkeys((*left.rules, *right.rules))),
        required,
        minimum,
        maximum,
        tuple(dict.fromkeys((*left.witnesses, *right.witnesses))),
        tuple(dict.fromkeys((*left.evaluated, *right.evaluated))),
        tuple(dict.fromkeys((*left.clauses, *right.clauses))),
    )


def narrowed(atom: ObjectAtom, clause: Clause) -> tuple[ObjectAtom, ...]:
    """Return the atom with a clause; without a need for one, it alone, or nothing."""
    if not clause.atoms:
        return (atom,) if clause.denied else ()
    if len(clause.atoms) == 1 and not clause.denied:
        met = objects_met(atom, clause.atoms[0])
        return () if met is None else (met,)
    return (replace(atom, clauses=tuple(dict.fromkeys((*atom.clauses, clause)))),)


def _objects_joined(atoms: Iterable[ObjectAtom]) -> tuple[ObjectAtom, ...]:
    found = dict.fromkeys(atoms)
    if ANY_OBJECT in found and not any(atom.evaluated for atom in found):
        return (ANY_OBJECT,)
    return tuple(found)


def _least(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)
