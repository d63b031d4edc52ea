"""Object atoms as expressions: a chain over the known keys in their order, then additional keys.

Takes an atom and the `Lowering` that writes rules; gives the expression of the whole object. A
state of the chain is (key, members so far, witnesses still missing); without counts and witnesses
that is linear in the number of keys. Keys that no schema names are divided into cells by the
patterns that match them, each cell with its own value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from constrain.errors import UnsupportedSchema
from constrain.schema.arrays import ArrayWriter
from constrain.schema.cardinality import MANY, listed, texts
from constrain.schema.chains import Edge, chain
from constrain.schema.decisions import FALSE as NEVER
from constrain.schema.decisions import TooManyStates
from constrain.schema.inhabited import contradicts
from constrain.schema.intersect import objects_met
from constrain.schema.keys import KeyClaims, holds_key, known_names
from constrain.schema.membership import contains
from constrain.schema.tracking import Tracker
from constrain.schema.types import (
    ANY_OBJECT,
    FALSE,
    Claims,
    KeySet,
    KeyWitness,
    Located,
    ObjectAtom,
    both,
)
from constrain.schema.values import json_text, writable
from constrain.schema.whitespace import guarded, plain
from constrain.syntax.expr import (
    EMPTY,
    NOTHING,
    Expr,
    JsonString,
    alt,
    complement,
    conjunction,
    literal,
    repeat,
    seq,
)

__all__ = ["object_expr"]

_MAX_CELLS = 256
_MAX_WITNESSES = 4


def object_expr(writer: ArrayWriter, atom: ObjectAtom, claims: Claims) -> Expr:
    """Return the expression of an object atom of the schema that `claims` are about."""
    if len(atom.witnesses) > _MAX_WITNESSES:
        writer.report(claims, "not")("too many keys must exist with values of their own")
        atom = replace(atom, witnesses=())
    try:
        return _Object(writer, atom, claims).expr()
    except TooManyStates:
        writer.report(claims, "anyOf")("its alternatives need too many states")
        return _Object(writer, replace(atom, clauses=()), claims).expr()


@dataclass(frozen=True, slots=True)
class _State:
    """Before key number `key`, with `count` members written (capped) and `missing` witnesses.

    `left`: what of the clauses is still open.
    """

    key: int
    count: int
    missing: frozenset[int]
    left: int


@dataclass(frozen=True, slots=True)
class _Cell:
    """Unknown keys of one language, whose values fulfil the same claims."""

    keys: Expr
    claims: Claims


class _Object:
    def __init__(
        self,
        writer: ArrayWriter,
        atom: ObjectAtom,
        claims: Claims,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.writer = writer
        self.atom = atom
        self.claims = claims
        self.names = known_names(atom) if names is None else names
        self.values = KeyClaims(atom)
        self.required = frozenset(atom.required)
        # A key that no schema names must differ from those before it.
        self.is_guarded = writer.guards_keys and atom.maximum != 0
        self.free = self._free_members()
        self.is_guarded &= self.free != NOTHING
        scarce = self.is_guarded and self._may_run_out()
        self.mark = partial(guarded, scarce=True) if scarce else plain
        self.comma = self.mark(writer.punctuation.comma)
        self.tracker = Tracker(atom.clauses, self.names, writer.type_of)
        self._twins: dict[ObjectAtom, _Object | None] = {}

    def expr(self) -> Expr:
        """Return the whole object, braces included."""
        witnesses = frozenset(range(len(self.atom.witnesses)))
        label = (
            " & ".join(f"#{c.pointer}" for c in self.claims if isinstance(c, Located)) or "object"
        )
        first = _State(0, 0, witnesses, self.tracker.first)
        brace = literal("{")
        opened = guarded(brace, scarce=False) if self.is_guarded else brace
        return seq(opened, chain(self.writer, label, first, self._edges))

    # ------------------------------------------------------------ known keys

    def _edges(self, state: _State) -> Iterator[Edge[_State]]:
        if state.left == NEVER:
            return
        if state.key == len(self.names):
            yield from ((self._end(state, more), None) for more in self.tracker.endings(state.left))
            return
        name = self.names[state.key]
        if name not in self.required:
            left = self.tracker.without(state.left, name, state.key)
            yield EMPTY, replace(state, key=state.key + 1, left=left)
        if self.atom.maximum is not None and state.count >= self.atom.maximum:
            return
        if not writable(name):
            return
        for claims, missing in self._choices(name, state.missing):
            for found, left in self.tracker.with_key(state.left, name, state.key, claims):
                member = self._member(literal(json_text(name)), found)
                if member != NOTHING:
                    separator = self._separator(state.count)
                    after = _State(state.key + 1, self._counted(state.count), missing, left)
                    yield seq(separator, member), after

    def _choices(
        self, name: str, missing: frozenset[int]
    ) -> Iterator[tuple[Claims, frozenset[int]]]:
        """Give the claims of a key's value, with each set of witnesses it may serve as."""
        claims = self.values.of(name)
        yield claims, missing
        for i in sorted(missing):
            witness = self.atom.witnesses[i]
            if holds_key(witness.keys, name):
                for more, left in self._choices(name, missing - {i}):
                    yield both(more, witness.claims), left

    def _member(self, key: Expr, claims: Claims) -> Expr:
        if contradicts(claims):
            return NOTHING
        return seq(key, self.writer.punctuation.colon, self.writer.value(claims))

    def _separator(self, count: int) -> Expr:
        return self.comma if count else self.writer.punctuation.opened

    def _counted(self, count: int) -> int:
        """Return the count after one more member; above what matters it stands still."""
        if self.atom.maximum is not None:
            return count + 1
        return min(count + 1, max(1, self.atom.minimum, self.tracker.counted))

    # ------------------------------------------------------------ unknown keys

    def _end(self, state: _State, more: ObjectAtom = ANY_OBJECT) -> Expr:
        """Return additional members, as many as are allowed, and the closing brace.

        `more` is what the clauses still ask of them.
        """
        if more != ANY_OBJECT:
            twin = self._narrowed(more)
            if twin is None:
                return NOTHING
            added = (i for i, w in enumerate(twin.atom.witnesses) if w in more.witnesses)
            return twin._end(replace(state, missing=state.missing.union(added)))
        least = max(0, self.atom.minimum - state.count)
        most = None if self.atom.maximum is None else self.atom.maximum - state.count
        few = self._few_keys() if least > 1 else None
        if few is not None:
            most = few if most is None else min(few, most)
            if least > most:
                return NOTHING
        elif least > 1 and self.free != NOTHING and self._distinct_keys() < least:
            doubt = "its undeclared keys may not have enough different names"
            self.writer.report(self.claims, "minProperties")(doubt)
            least = 1
        if most is not None and most < 0:
            return NOTHING
        if state.missing:
            return self._witnessed(state.count, state.missing, most, frozenset())
        return self._members(state.count, least, most, self._close())

    def _narrowed(self, more: ObjectAtom) -> _Object | None:
        """Return the object with more to fulfil by the keys that no schema names."""
        if more not in self._twins:
            atom = objects_met(replace(self.atom, clauses=()), more)
            if atom is not None and len(atom.witnesses) > _MAX_WITNESSES:
                raise TooManyStates
            self._twins[more] = (
                None if atom is None else _Object(self.writer, atom, self.claims, self.names)
            )
        return self._twins[more]

    def _members(self, count: int, least: int, most: int | None, close: Expr) -> Expr:
        comma = self.comma
        if count:
            return seq(repeat(seq(comma, self.free), least, most), close)
        empty = literal("}") if least == 0 else NOTHING
        if most == 0:
            return empty
        more = repeat(seq(comma, self.free), max(0, least - 1), None if most is None else most - 1)
        return alt(empty, seq(self._separator(0), self.free, more, close))

    def _witnessed(
        self, count: int, missing: frozenset[int], most: int | None, served: frozenset[int]
    ) -> Expr:
        """Return additional members in which every missing witness is served, and the brace.

        A later member with an equal key would replace an earlier one, so after a witness is served
        every key that could be its own must have a value that serves it too.
        """
        if most is not None and (most < 0 or (missing and most < 1)):
            return NOTHING
        comma = self.comma
        free = seq(comma, self._free_members(kept=self._witnesses(served)))
        if not missing:
            return seq(repeat(free, 0, most), self._close())
        spare = None if most is None else max(0, most - len(missing))
        ways: list[Expr] = []
        for some in _subsets(missing):
            kept, serving = self._witnesses(served), self._witnesses(some)
            member = self._free_members(kept=kept, serving=serving)
            left = None if most is None else min(most - 1, len(missing - some))
            rest = self._witnessed(count + 1, missing - some, left, served | some)
            ways.append(seq(member, rest))
        alone = seq(self._separator(count), alt(*ways))
        if spare == 0 or free == NOTHING:
            return alone
        if count:
            return seq(repeat(free, 0, spare), comma, alt(*ways))
        first = self._free_members(kept=self._witnesses(served))
        more = repeat(free, 0, None if spare is None else spare - 1)
        return alt(alone, seq(self._separator(0), first, more, comma, alt(*ways)))

    def _witnesses(self, numbers: frozenset[int]) -> tuple[KeyWitness, ...]:
        return tuple(self.atom.witnesses[i] for i in sorted(numbers))

    def _close(self) -> Expr:
        return seq(self.writer.punctuation.closed, self.mark(literal("}")))

    def _free_members(
        self, kept: tuple[KeyWitness, ...] = (), serving: tuple[KeyWitness, ...] = ()
    ) -> Expr:
        """Return one member with a key that no schema names, and that is `serving` as witness.

        If its key could be that of a `kept` witness, it must be one.
        """
        key = partial(JsonString, distinct=True) if self.is_guarded else self.writer.text
        cells = self._unknown(kept, serving)
        return alt(*(self._member(key(cell.keys), cell.claims) for cell in cells))

    def _unknown(
        self, kept: tuple[KeyWitness, ...], serving: tuple[KeyWitness, ...]
    ) -> Iterator[_Cell]:
        """Give the cells without the keys that a schema names."""
        known = complement(alt(*(literal(n) for n in self.names))) if self.names else None
        for cell in self._cells(kept, serving):
            yield cell if known is None else _Cell(conjunction((cell.keys, known)), cell.claims)

    def _may_run_out(self) -> bool:
        """Return whether it matters, beyond a key that ends, which keys have been used.

        They might all be; or the object is an item to be compared, and becomes equal to another
        only by its last member.
        """
        return self.writer.compares_items or self._distinct_keys() < MANY

    def _few_keys(self) -> int | None:
        """Return how many undeclared keys there can be, None where they are not plainly few."""
        keys = [listed(cell.keys) for cell in self._unknown((), ())]
        return sum(len(few or ()) for few in keys) if None not in keys else None

    def _distinct_keys(self) -> int:
        """Return how many different undeclared keys there surely can be: 1 if none is guarded."""
        if not self.is_guarded:
            return 1
        values = (
            texts(cell.keys)
            for cell in self._unknown((), ())
            if self.writer.value(cell.claims) != NOTHING
        )
        return max(values, default=0)

    def _cells(self, kept: tuple[KeyWitness, ...], serving: tuple[KeyWitness, ...]) -> list[_Cell]:
        """Divide the unknown keys by the patterns of the rules."""
        rules = list(self.atom.rules)
        rules += [(witness.keys, witness.claims) for witness in (*kept, *serving)]
        rules += [(witness.keys.opposite(), FALSE) for witness in serving]
        cells = [_Division()]
        for keys, claims in rules:
            cells = [part for cell in cells for part in cell.divided(keys, claims)]
            cells = [c for c in cells if not contradicts(c.claims) and not c.is_empty()]
            if len(cells) > _MAX_CELLS:
                fact = "the patterns of its keys overlap in more than 256 ways"
                pointer = next((c.pointer for c in self.claims if isinstance(c, Located)), "")
                raise UnsupportedSchema(fact, pointer=pointer, remedy="use fewer patternProperties")
        return _merged(cells)


def _subsets(numbers: frozenset[int]) -> Iterator[frozenset[int]]:
    """Give the subsets that are not empty."""
    for size in range(1, len(numbers) + 1):
        yield from map(frozenset, combinations(sorted(numbers), size))


@dataclass(frozen=True, slots=True)
class _Division:
    """A cell while it is divided: the patterns its keys match, those they do not, the claims."""

    matching: tuple[Expr, ...] = ()
    missing: tuple[Expr, ...] = ()
    claims: Claims = ()

    def divided(self, keys: KeySet, claims: Claims) -> Iterator[_Division]:
        """Give the parts inside and outside of `keys`; the part inside gets the claims."""
        unknown = tuple(p for p in keys.patterns if p not in self.missing)
        if any(pattern in self.matching for pattern in unknown):
            yield self._with(claims, holds=not keys.outside)
            return
        # Keys that match none of the patterns, then those that match the first, the second, ...
        none = replace(self, missing=(*self.missing, *unknown))
        yield none._with(claims, holds=keys.outside)
        for i, pattern in enumerate(unknown):
            part = replace(
                self,
                matching=(*self.matching, pattern),
                missing=(*self.missing, *unknown[:i]),
            )
            yield part._with(claims, holds=not keys.outside)

    def _with(self, claims: Claims, *, holds: bool) -> _Division:
        return replace(self, claims=both(self.claims, claims)) if holds else self

    def is_empty(self) -> bool:
        """Return whether one of the patterns is a short list, of which nothing is left."""
        few = next((f for p in self.matching if (f := listed(p)) is not None), None)
        if few is None:
            return False
        return not any(
            all(contains(pattern, name) for pattern in self.matching)
            and not any(contains(pattern, name) for pattern in self.missing)
            for name in few
        )

    def language(self) -> Expr:
        """Return the keys of the cell."""
        missing = [complement(alt(*self.missing))] if self.missing else []
        return conjunction((*self.matching, *missing))


def _merged(cells: list[_Division]) -> list[_Cell]:
    languages: dict[frozenset[object], tuple[Claims, list[Expr]]] = {}
    for cell in cells:
        _, parts = languages.setdefault(frozenset(cell.claims), (cell.claims, []))
        parts.append(cell.language())
    return [_Cell(alt(*parts), claims) for claims, parts in languages.values()]
