"""Unbounded repetition of a part with assertions, as pieces.

Two exact ways. Where each round is one character, the rounds of a text are determined, so the
loop is any run of those characters without a round that breaks an assertion: a complement. Else
the assertions that are pending between two rounds become the states of a small automaton, which
is turned back into an expression by eliminating its states; it is given up when it grows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    ANY_TEXT,
    EMPTY,
    NOTHING,
    Chars,
    Expr,
    alt,
    complement,
    repeat,
    seq,
)
from constrain.syntax.languages import TooManySplits, bounded_size, meet, split
from constrain.syntax.regex_pieces import (
    Condition,
    Piece,
    asserted,
    composed,
    failing,
    joined,
    prefixed,
)

__all__ = ["starred"]

_MAX_STATES = 12
_Edges = dict[tuple[int, int], Expr]


def starred(item: Sequence[Piece], then: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return any number of rounds of `item`, followed by `then`; may raise TooManySplits."""
    rounds = [piece for piece in item if piece.body != EMPTY]  # an empty round changes nothing
    if all(p.before == p.after == ANY_TEXT for p in rounds):
        body = repeat(alt(*(p.body for p in rounds)))
        return joined(found for piece in then for found in prefixed(body, piece))
    if all(isinstance(p.body, Chars) for p in rounds):
        return joined(_runs_of_chars(rounds, then))
    loop = joined(_eliminated(rounds))
    return joined(found for p in loop for piece in then for found in composed(p, piece))


# ---------------------------------------------------------------------- rounds of one character


def _runs_of_chars(rounds: Sequence[Piece], then: Sequence[Piece]) -> Iterator[Piece]:
    run = repeat(alt(*(Chars(atom) for atom, _ in _atoms(rounds))))
    faults = [fault for atom, conditions in _atoms(rounds) for fault in _faults(atom, conditions)]
    faults = [found for fault in faults for found in _spread(fault, run)]
    for piece in then:
        for start in prefixed(run, Piece(piece.before, EMPTY, ANY_TEXT)):
            yield from _without(faults, start, piece)


def _atoms(rounds: Sequence[Piece]) -> Iterator[tuple[CharSet, list[Condition]]]:
    """Yield disjoint sets of characters, each with the conditions of which one must hold."""
    todo: list[tuple[CharSet, list[Condition]]] = []
    for piece in rounds:
        rest = piece.body.charset if isinstance(piece.body, Chars) else CharSet(())
        condition = (piece.before, piece.after)
        cut: list[tuple[CharSet, list[Condition]]] = []
        for atom, conditions in todo:
            cut.append((atom & rest, [*conditions, condition]))
            cut.append((atom - rest, conditions))
        seen = CharSet.of(r for atom, _ in todo for r in atom.ranges)
        todo = [(atom, cs) for atom, cs in [*cut, (rest - seen, [condition])] if atom]
    yield from todo


def _faults(atom: CharSet, conditions: list[Condition]) -> Iterator[Piece]:
    for before, after in failing(conditions):
        yield Piece(before, Chars(atom), after)


def _spread(fault: Piece, run: Expr) -> Iterator[Piece]:
    """Yield the pieces of a whole run in which one character is at fault."""
    for (before, left), (right, after) in product(_cuts(fault.before), _cuts(fault.after)):
        body = seq(meet(run, left), fault.body, meet(run, right))
        if NOTHING not in (before, body, after):
            yield Piece(before, body, after)


def _without(faults: Sequence[Piece], start: Piece, then: Piece) -> Iterator[Piece]:
    """Yield `start` followed by `then`, less every fault: one of its three sides must fail."""
    cells = [(start, then)]
    for fault in faults:
        options = [list(_avoiding(fault, *cell)) for cell in cells]
        cells = list(
            dict.fromkeys(
                option
                for cell, found in zip(cells, options, strict=True)
                for option in ([cell] if cell in found else found)
            )
        )
        if len(cells) > _MAX_STATES * _MAX_STATES:
            raise TooManySplits
    for first, rest in cells:
        yield Piece(first.before, seq(first.body, rest.body), rest.after)


def _avoiding(fault: Piece, start: Piece, then: Piece) -> Iterator[tuple[Piece, Piece]]:
    before = meet(start.before, complement(fault.before))
    body = meet(start.body, complement(fault.body))
    if before != NOTHING:
        yield Piece(before, start.body, start.after), then
    if body != NOTHING:
        yield Piece(start.before, body, start.after), then
    for found in asserted((ANY_TEXT, complement(fault.after)), then):
        if NOTHING not in (found.body, found.after):
            yield start, Piece(then.before, found.body, found.after)


# ---------------------------------------------------------------------- rounds of any shape


def _eliminated(rounds: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces of any number of rounds.

    A state is (what the text before must be in, what the text after must be in) at a place
    between two rounds: the first is a promise already kept, the second a debt still to pay.
    """
    kept = _closure(rounds, before=True)
    owed = _closure(rounds, before=False)
    states = list(product(kept, owed))
    if len(states) > _MAX_STATES:
        raise TooManySplits
    edges = _edges(rounds, states)
    final = [i for i, (before, _) in enumerate(states) if before == ANY_TEXT]
    for i, (before, after) in enumerate(states):
        if after == ANY_TEXT:
            for j in final:
                yield Piece(before, _path(edges, len(states), i, j), states[j][1])


def _closure(rounds: Sequence[Piece], *, before: bool) -> list[Expr]:
    found: list[Expr] = [ANY_TEXT]
    for condition in found:  # grows while it is read
        for piece in rounds:
            own = piece.before if before else piece.after
            for left, right in _cuts(condition):
                new = meet(own, left if before else right)
                if new != NOTHING and new not in found:
                    found.append(new)
        if len(found) > _MAX_STATES:
            raise TooManySplits
    return found


def _edges(rounds: Sequence[Piece], states: list[tuple[Expr, Expr]]) -> _Edges:
    edges: _Edges = {}
    for i, (kept, owed) in enumerate(states):
        for j, (kept_after, owed_after) in enumerate(states):
            bodies = [
                meet(meet(piece.body, inner), paid)
                for piece in rounds
                for outer, inner in _cuts(kept_after)
                if meet(piece.before, outer) == kept
                for paid, rest in _cuts(owed)
                if meet(piece.after, rest) == owed_after
            ]
            edges[i, j] = alt(*bodies)
    return edges


def _path(edges: _Edges, count: int, start: int, end: int) -> Expr:
    """Return the texts that lead from one state to another, by eliminating all states.

    The state with the fewest ways through it goes first, which keeps the expression small.
    """
    entry, leave = count, count + 1
    now = {pair: body for pair, body in edges.items() if body != NOTHING}
    now[entry, start] = now[end, leave] = EMPTY
    left = set(range(count))
    while left:
        k = min(left, key=lambda state: _ways(now, state))
        left.remove(k)
        loop = repeat(now.get((k, k), NOTHING))
        sources = [(i, body) for (i, to), body in now.items() if to == k != i]
        targets = [(j, body) for (of, j), body in now.items() if of == k != j]
        now = {pair: body for pair, body in now.items() if k not in pair}
        for (i, first), (j, last) in product(sources, targets):
            now[i, j] = alt(now.get((i, j), NOTHING), seq(first, loop, last))
            bounded_size(now[i, j])
    return now.get((entry, leave), NOTHING)


def _ways(edges: _Edges, state: int) -> tuple[int, int]:
    into = sum(1 for i, j in edges if j == state != i)
    out = sum(1 for i, j in edges if i == state != j)
    return into * out, state


def _cuts(expr: Expr) -> tuple[tuple[Expr, Expr], ...]:
    return ((ANY_TEXT, ANY_TEXT),) if expr == ANY_TEXT else split(expr)
