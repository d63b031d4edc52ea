"""The closed set of types that every schema is normalised to.

A `Type` is a union over the six kinds of JSON value; each kind has its own atoms, in disjunctive
form: a value belongs to the type when it satisfies one atom of its kind. Atoms of arrays and
objects never hold other types. They hold `Claims`: a conjunction of statements about the child
("satisfies the schema at this pointer", "does not", "equals this constant"), which the normaliser
turns into a Type only when somebody asks. So recursion costs nothing, and the intersection of two
recursive schemas is a longer tuple of claims.

Knows no schema text and no spelling: `normalize` reads the first, `lower` writes the second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from constrain.syntax.expr import Expr

__all__ = [
    "ANY_OBJECT",
    "ANY_TYPE",
    "FALSE",
    "NO_TYPE",
    "ArrayAtom",
    "Claim",
    "Claims",
    "Clause",
    "Equals",
    "Items",
    "KeySet",
    "KeyWitness",
    "Located",
    "Negated",
    "Never",
    "NumberRange",
    "NumberSet",
    "ObjectAtom",
    "StringAtom",
    "Type",
    "Witness",
    "both",
    "negated",
]


@dataclass(frozen=True, slots=True)
class Located:
    """The value satisfies the schema at `pointer`.

    `scope`: the resources entered on the way, only in documents with dynamic references.
    """

    pointer: str
    scope: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Equals:
    """The value equals a JSON constant, given as its text (key order kept, for writing)."""

    text: str


@dataclass(frozen=True, slots=True)
class Negated:
    """The value does not satisfy all of `claims`."""

    claims: Claims


@dataclass(frozen=True, slots=True)
class Never:
    """No value satisfies this."""


Claim = Located | Equals | Negated | Never
Claims = tuple[Claim, ...]
FALSE: Claims = (Never(),)


def both(left: Claims, right: Claims) -> Claims:
    """Return the conjunction, without doubles, in order of appearance."""
    if not left or left == right:
        return right
    return tuple(dict.fromkeys((*left, *right))) if right else left


def negated(claims: Claims) -> Claims:
    """Return the complement: `FALSE` for no claims, and no double negation."""
    if not claims:
        return FALSE
    if len(claims) == 1:
        only = claims[0]
        if isinstance(only, Never):
            return ()
        if isinstance(only, Negated):
            return only.claims
    return (Negated(claims),)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """An interval of the rationals, further all `multiples` and no multiple of `exclusions`.

    An absent bound is None. Integers are the multiples of 1.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False
    multiples: frozenset[Fraction] = frozenset()
    exclusions: frozenset[Fraction] = frozenset()


@dataclass(frozen=True, slots=True)
class NumberSet:
    """A union of single values, each with the spelling it must have, and of ranges."""

    points: tuple[tuple[Fraction, str], ...] = ()
    ranges: tuple[NumberRange, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is left (ranges are assumed not to be empty)."""
        return bool(self.points or self.ranges)


@dataclass(frozen=True, slots=True)
class StringAtom:
    """Strings in every `languages` (regular), of `minimum` to `maximum` code points.

    With `values` (not None): just these, which all satisfy the rest. A format's language may hold
    less than the format: `formats` names those among `languages`, for a complement, and `inexact`
    tells that a value was left out which only the format itself could tell about.
    """

    languages: tuple[Expr, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    values: tuple[str, ...] | None = None
    formats: tuple[str, ...] = ()
    inexact: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """What the items from index `start` up to but without `stop` (None: all) satisfy."""

    start: int
    stop: int | None
    claims: Claims


@dataclass(frozen=True, slots=True)
class Witness:
    """Between `minimum` and `maximum` items from index `start` on satisfy the claims."""

    claims: Claims
    start: int = 0
    minimum: int = 1
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class ArrayAtom:
    """Arrays of `minimum` to `maximum` items.

    For unevaluatedItems: the first `evaluated` items are evaluated (None: all), and so are those
    that satisfy any of `evaluated_by`.
    """

    items: tuple[Items, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    witnesses: tuple[Witness, ...] = ()
    unique: bool = False
    evaluated: int | None = 0
    evaluated_by: tuple[Claims, ...] = ()


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys that are among `names` or match one of `patterns`; with `outside`, all others.

    `inexact`: a pattern is the language of a format, which may hold less than the format.
    """

    names: frozenset[str] = frozenset()
    patterns: tuple[Expr, ...] = ()
    outside: bool = False
    inexact: bool = False

    def opposite(self) -> KeySet:
        """Return all other keys."""
        return replace(self, outside=not self.outside)


@dataclass(frozen=True, slots=True)
class KeyWitness:
    """At least one key of `keys` is there, with a value that satisfies the claims."""

    keys: KeySet
    claims: Claims


@dataclass(frozen=True, slots=True)
class Clause:
    """The object is in one of `atoms` at least; with `denied`, in none.

    What would multiply alternatives if it were multiplied out.
    """

    atoms: tuple[ObjectAtom, ...]
    denied: bool = False


@dataclass(frozen=True, slots=True)
class ObjectAtom:
    """Objects: for every key, its value satisfies `named` and all `rules` whose keys hold it.

    `order` is the order of declared keys; `evaluated` the keys that count as evaluated for
    unevaluatedProperties. All `clauses` hold.
    """

    order: tuple[str, ...] = ()
    named: tuple[tuple[str, Claims], ...] = ()
    rules: tuple[tuple[KeySet, Claims], ...] = ()
    required: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    witnesses: tuple[KeyWitness, ...] = ()
    evaluated: tuple[KeySet, ...] = ()
    clauses: tuple[Clause, ...] = ()


@dataclass(frozen=True, slots=True)
class Type:
    """A union over the kinds of JSON value; see the module's text."""

    null: bool = False
    booleans: frozenset[bool] = frozenset()
    numbers: NumberSet = NumberSet()
    strings: tuple[StringAtom, ...] = ()
    arrays: tuple[ArrayAtom, ...] = ()
    objects: tuple[ObjectAtom, ...] = ()

    def __bool__(self) -> bool:
        """Return whether an atom is left."""
        return bool(
            self.null
            or self.booleans
            or self.numbers
            or self.strings
            or self.arrays
            or self.objects
        )


ANY_OBJECT = ObjectAtom()
NO_TYPE = Type()
ANY_TYPE = Type(
    null=True,
    booleans=frozenset({False, True}),
    numbers=NumberSet(ranges=(NumberRange(),)),
    strings=(StringAtom(),),
    arrays=(ArrayAtom(),),
    objects=(ANY_OBJECT,),
)
