"""Array atoms as expressions: a chain of leading items, then a repetition of the rest.

Takes an atom and the `Lowering` that writes rules; gives the expression of the whole array. A state
of the chain is (items so far, what has been tallied); the tally counts the items that satisfy each
`contains`, and holds the values that are used up under `uniqueItems` where an item has few possible
ones. Without a tally the rest is one counted repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Protocol

from constrain.schema.cardinality import can_be_told_apart, has_values
from constrain.schema.chains import Edge, chain
from constrain.schema.inhabited import contradicts
from constrain.schema.types import (
    ArrayAtom,
    Claims,
    Equals,
    Located,
    Type,
    Witness,
    both,
    negated,
)
from constrain.schema.values import json_text
from constrain.schema.whitespace import Punctuation, guarded, plain
from constrain.syntax.expr import NOTHING, Expr, alt, literal, repeat, seq

__all__ = ["ArrayWriter", "array_expr", "item_claims"]

_MAX_VALUES = 9
# Longer counted arrays beside a tally are not unrolled.
_MAX_UNROLLED = 300


class ArrayWriter(Protocol):
    """What arrays and objects ask of the lowering."""

    punctuation: Punctuation
    guards_keys: bool
    compares_items: bool

    def value(self, claims: Claims) -> Expr:
        """Return the expression of the values that fulfil the claims."""

    def text(self, language: Expr) -> Expr:
        """Return the JSON strings of a language."""

    def type_of(self, claims: Claims) -> Type:
        """Return the type of the values that fulfil the claims."""

    def report(self, claims: Claims, keyword: str) -> Callable[[str], None]:
        """Return how to answer a keyword "checked"."""

    def name(self, wish: str) -> str:
        """Return a free rule name."""

    def add(self, name: str, expr: Expr) -> None:
        """Write a rule down."""


def item_claims(atom: ArrayAtom, index: int) -> Claims:
    """Return what the item at an index must fulfil."""
    found: Claims = ()
    for items in atom.items:
        if items.start <= index and (items.stop is None or index < items.stop):
            found = both(found, items.claims)
    return found


def array_expr(writer: ArrayWriter, atom: ArrayAtom, claims: Claims) -> Expr:
    """Return the expression of an array atom of the schema that `claims` are about."""
    values = _values(writer, atom) if atom.unique else None
    watched = atom.unique and values is None and (atom.maximum is None or atom.maximum > 1)
    if watched and (doubt := _doubt(writer, atom)):
        writer.report(claims, "uniqueItems")(doubt)
        watched = False
    if values is not None:
        most = len(values) if atom.maximum is None else min(atom.maximum, len(values))
        atom = replace(atom, maximum=most)
        if most < atom.minimum:
            return NOTHING
    if atom.witnesses and _longest(atom) > _MAX_UNROLLED:
        writer.report(claims, "contains")("its bounds on the number of items are too large")
        atom = replace(atom, witnesses=())
    if atom.maximum == 0:
        return NOTHING if any(w.minimum for w in atom.witnesses) else literal("[]")
    return _Array(writer, atom, values, watched=watched).expr(_label(claims))


def _doubt(writer: ArrayWriter, atom: ArrayAtom) -> str | None:
    """Return why equal items cannot be kept out while the array is written, or None."""
    places = [item_claims(atom, index) for index in range(_lead(atom) + 1)]
    if not all(can_be_told_apart(writer.type_of, claims) for claims in places):
        return "the order of the keys of its items is open, and their number limited"
    enough = all(has_values(writer.type_of, claims, atom.minimum) for claims in places)
    for witness in atom.witnesses:
        both_ = both(places[-1], witness.claims)
        enough = enough and has_values(writer.type_of, both_, witness.minimum)
    return None if enough or atom.minimum < 2 else "its items may not have enough different values"


def _label(claims: Claims) -> str:
    return " & ".join(f"#{c.pointer}" for c in claims if isinstance(c, Located)) or "array"


def _longest(atom: ArrayAtom) -> int:
    return atom.minimum if atom.maximum is None else atom.maximum


def _lead(atom: ArrayAtom) -> int:
    """Return how many leading items differ from the rest in what they must fulfil."""
    own = max((i.start if i.stop is None else i.stop for i in atom.items), default=0)
    return max(own, *(w.start for w in atom.witnesses)) if atom.witnesses else own


def _values(writer: ArrayWriter, atom: ArrayAtom) -> tuple[str, ...] | None:
    """Return the texts of all values an item can have, if they are few scalars."""
    found: dict[str, None] = {}
    for index in range(_lead(atom) + 1):
        kind = writer.type_of(item_claims(atom, index))
        listed = all(string.values is not None for string in kind.strings)
        if kind.arrays or kind.objects or kind.numbers.ranges or not listed:
            return None
        found |= {"null": None} if kind.null else {}
        found |= {json_text(b): None for b in sorted(kind.booleans)}
        found |= {_number(v, spelled): None for v, spelled in kind.numbers.points}
        found |= {json_text(v): None for s in kind.strings for v in s.values or ()}
        if len(found) > _MAX_VALUES:
            return None
    return tuple(found)


def _number(value: Fraction, spelled: str) -> str:
    """Return one text for all spellings of a number."""
    return str(value) if value.denominator == 1 else spelled


@dataclass(frozen=True, slots=True)
class _State:
    """After `index` items (capped), of which `counts` serve each witness; `used` values."""

    index: int
    counts: tuple[int, ...]
    used: frozenset[str] = frozenset()


class _Array:
    def __init__(
        self,
        writer: ArrayWriter,
        atom: ArrayAtom,
        values: tuple[str, ...] | None,
        *,
        watched: bool,
    ) -> None:
        self.writer = writer
        self.atom = atom
        self.values = values
        mark = partial(guarded, scarce=True) if watched else plain
        self.opened = mark(literal("["))
        self.comma = mark(writer.punctuation.comma)
        self.close = seq(writer.punctuation.closed, mark(literal("]")))
        tallied = bool(atom.witnesses) or values is not None
        lead = max(1, _lead(atom), _longest(atom) if tallied else 0)
        self.lead = lead if atom.maximum is None else min(lead, atom.maximum)

    def expr(self, label: str) -> Expr:
        """Return the whole array, brackets included."""
        first = _State(0, (0,) * len(self.atom.witnesses))
        return seq(self.opened, chain(self.writer, label, first, self._edges))

    # ------------------------------------------------------------ leading items

    def _edges(self, state: _State) -> Iterator[Edge[_State]]:
        """Give the ways on from a state: the end, or one more item."""
        if state.index == self.lead:
            yield self._rest(state), None
            return
        if state.index >= self.atom.minimum and self._satisfied(state.counts):
            yield self.close if state.index else literal("]"), None
        separator = self.comma if state.index else self.writer.punctuation.opened
        for claims, counts in self._choices(state):
            for value in self._unused(state.used):
                item = self.writer.value(both(claims, value))
                used = state.used.union(c.text for c in value if isinstance(c, Equals))
                after = _State(state.index + 1, counts, used)
                yield NOTHING if item == NOTHING else seq(separator, item), after

    def _unused(self, used: frozenset[str]) -> list[Claims]:
        if self.values is None:
            return [()]
        return [(Equals(text),) for text in self.values if text not in used]

    def _satisfied(self, counts: tuple[int, ...]) -> bool:
        return all(c >= w.minimum for c, w in zip(counts, self.atom.witnesses, strict=True))

    def _choices(self, state: _State) -> Iterator[tuple[Claims, tuple[int, ...]]]:
        """Give the claims of the next item, for each set of witnesses it serves, and the counts."""
        found: list[tuple[Claims, tuple[int, ...]]] = [(item_claims(self.atom, state.index), ())]
        for witness, count in zip(self.atom.witnesses, state.counts, strict=True):
            found = [
                (narrowed, (*counts, after))
                for claims, counts in found
                for narrowed, after in self._served(witness, count, state.index, claims)
            ]
        yield from found

    def _served(
        self, witness: Witness, count: int, index: int, claims: Claims
    ) -> Iterator[tuple[Claims, int]]:
        """Give what an item must fulfil to be counted, or not, and the count after it.

        Where all items are counted, or none, nothing is asked of them.
        """
        full = witness.maximum is None and count >= witness.minimum
        inside, outside = both(claims, witness.claims), both(claims, negated(witness.claims))
        if index < witness.start or full or not self._possible(inside):
            yield claims, count
            return
        always = not self._possible(outside)
        if not always:
            yield (claims if witness.maximum is None else outside), count
        if witness.maximum is None or count < witness.maximum:
            yield (claims if always else inside), count + 1

    def _possible(self, claims: Claims) -> bool:
        return not contradicts(claims) and bool(self.writer.type_of(claims))

    # ------------------------------------------------------------ the rest

    def _rest(self, state: _State) -> Expr:
        if self.atom.maximum == self.lead:
            return self.close if self._satisfied(state.counts) else NOTHING
        if not self.atom.witnesses:
            least = max(self.atom.minimum - self.lead, 0)
            most = None if self.atom.maximum is None else self.atom.maximum - self.lead
            item = self.writer.value(item_claims(self.atom, self.lead))
            return seq(repeat(seq(self.comma, item), least, most), self.close)
        idle: Expr = NOTHING
        ways: list[Expr] = [self.close if self._satisfied(state.counts) else NOTHING]
        for claims, counts in self._choices(state):
            item = seq(self.comma, self.writer.value(claims))
            if counts == state.counts:
                idle = alt(idle, item)
            else:
                ways.append(seq(item, self._rest(replace(state, counts=counts))))
        return seq(repeat(idle, 0, None), alt(*ways))
