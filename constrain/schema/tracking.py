"""What an object has shown so far of the clauses it must fulfil, key by key.

Takes the clauses of an object atom; gives a boolean function of *leaves* (is the object in that
atom of a clause?) and what is left of it with each key that is written or left out. A leaf that a
key has failed is false, one without a statement left is true, so that states which behave alike
are equal: twenty alternatives that differ in a constant are told apart by its key, and never
multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice, product

from constrain.schema.complement import object_failures
from constrain.schema.decisions import FALSE, Decisions, TooManyStates
from constrain.schema.inhabited import contradicts
from constrain.schema.intersect import objects_met
from constrain.schema.keys import KeyClaims
from constrain.schema.types import ANY_OBJECT, Claims, Clause, ObjectAtom, Type, both, negated

__all__ = ["Tracker"]

_MAX_FUNCTIONS = 2_000
_MAX_CELLS = 256
_MAX_WAYS = 64


class Tracker:
    """The clauses of one object atom, whose known keys are `names`, in this order."""

    def __init__(
        self,
        clauses: tuple[Clause, ...],
        names: tuple[str, ...],
        type_of: Callable[[Claims], Type],
    ) -> None:
        """Read the clauses; `first` is what they ask of an object before its first key."""
        self._type_of = type_of
        self._decisions = Decisions()
        self._atoms: dict[ObjectAtom, int] = {}
        function = self._decisions.all(map(self._clause, clauses))
        self._required = [frozenset(atom.required) for atom in self._atoms]
        values = [KeyClaims(atom) for atom in self._atoms]
        self._claims = {name: [v.of(name) for v in values] for name in names}
        self._rest = [_of_unknown_keys(atom) for atom in self._atoms]
        self._last = [self._last_statement(i, names) for i in range(len(values))]
        self._seen = set[int]()
        self.first = self._settled(function, -1)

    def _clause(self, clause: Clause) -> int:
        negated_each = (self._decisions.negated(self._atom(atom)) for atom in clause.atoms)
        none = self._decisions.all(negated_each)
        return none if clause.denied else self._decisions.negated(none)

    def _atom(self, atom: ObjectAtom) -> int:
        bare = replace(atom, witnesses=(), clauses=(), order=(), evaluated=())
        missing = (
            ObjectAtom(rules=((witness.keys, negated(witness.claims)),))
            for witness in atom.witnesses
        )
        witnesses = (self._decisions.negated(self._leaf(other)) for other in missing)
        clauses = map(self._clause, atom.clauses)
        return self._decisions.all((self._leaf(bare), *witnesses, *clauses))

    def _leaf(self, bare: ObjectAtom) -> int:
        return self._decisions.fact(self._atoms.setdefault(bare, len(self._atoms)))

    def _last_statement(self, leaf: int, names: tuple[str, ...]) -> int:
        """Return the index of the last key the leaf speaks of."""
        if self._rest[leaf] != ANY_OBJECT:
            return len(names)
        spoken = (
            i
            for i, name in enumerate(names)
            if name in self._required[leaf] or self._claims[name][leaf]
        )
        return max(spoken, default=-1)

    def _settled(self, function: int, index: int) -> int:
        """Return the function after key number `index`; raises TooManyStates."""
        over = (leaf for leaf in self._decisions.facts(function) if self._last[leaf] <= index)
        found = self._given(function, over, holds=True)
        self._seen.add(found)
        if len(self._seen) > _MAX_FUNCTIONS:
            raise TooManyStates
        return found

    def _given(self, function: int, leaves: Iterable[int], *, holds: bool) -> int:
        for leaf in leaves:
            function = self._decisions.given(function, leaf, holds=holds)
        return function

    @property
    def counted(self) -> int:
        """Return up to what number of keys the clauses count."""
        counts = (max(a.minimum, -1 if a.maximum is None else a.maximum) for a in self._atoms)
        return max(counts, default=-1) + 1

    # ------------------------------------------------------------ known keys

    def without(self, function: int, name: str, index: int) -> int:
        """Return what is left after the key `name`, number `index`, was left out."""
        leaves = self._decisions.facts(function)
        failed = (leaf for leaf in leaves if name in self._required[leaf])
        return self._settled(self._given(function, failed, holds=False), index)

    def with_key(
        self, function: int, name: str, index: int, claims: Claims
    ) -> Iterator[tuple[Claims, int]]:
        """Give the kinds of values of a key that must fulfil `claims`, each with what is left."""
        speaking: dict[Claims, list[int]] = {}
        for leaf in sorted(self._decisions.facts(function)):
            if self._claims[name][leaf]:
                speaking.setdefault(self._claims[name][leaf], []).append(leaf)
        cells = [(claims, function)]
        for said, leaves in speaking.items():
            cells = [part for cell in cells for part in self._divided(*cell, said, leaves)]
            if len(cells) > _MAX_CELLS:
                raise TooManyStates
        for found, left in cells:
            settled = self._settled(left, index)
            if settled != FALSE:
                yield found, settled

    def _divided(
        self, claims: Claims, function: int, said: Claims, leaves: list[int]
    ) -> Iterator[tuple[Claims, int]]:
        """Give the part of a cell whose values fulfil what some leaves say, and the other part."""
        failed = self._given(function, leaves, holds=False)
        if failed == function:
            yield claims, function
            return
        inside, outside = both(claims, said), both(claims, negated(said))
        if not self._possible(inside):
            yield claims, failed
        elif not self._possible(outside):
            yield claims, function
        else:
            yield inside, function
            if failed != FALSE:
                yield outside, failed

    def _possible(self, claims: Claims) -> bool:
        return not contradicts(claims) and bool(self._type_of(claims))

    # ------------------------------------------------------------ keys that no schema names

    def endings(self, function: int) -> Iterator[ObjectAtom]:
        """Give what the other keys must fulfil, each atom one way to fulfil what is left."""
        ways = list(islice(self._decisions.ways(function), _MAX_WAYS + 1))
        if len(ways) > _MAX_WAYS:
            raise TooManyStates
        for way in ways:
            parts = (
                [self._rest[leaf]] if holds else list(object_failures(self._rest[leaf]))
                for leaf, holds in way.items()
            )
            for chosen in product(*parts):
                found: ObjectAtom | None = ANY_OBJECT
                for atom in chosen:
                    found = None if found is None else objects_met(found, atom)
                if found is not None:
                    yield found


def _of_unknown_keys(atom: ObjectAtom) -> ObjectAtom:
    """Return what an atom says of keys that no schema names, and of the number of keys.

    What sets of keys say of names is left out, so that sets that differ in names alone are equal.
    """
    rules = tuple(
        (replace(keys, names=frozenset()), claims)
        for keys, claims in atom.rules
        if keys.outside or keys.patterns
    )
    return ObjectAtom(rules=rules, minimum=atom.minimum, maximum=atom.maximum)
