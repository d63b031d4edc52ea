"""Chains: texts that are read left to right through numbered layers of states, each layer once.

Takes a first state and a function that gives the edges of a state; gives an expression of linear
size. A state that several edges lead to becomes a rule, so that nothing is written twice; runs of
states with a single edge become one sequence. Objects (a layer for each key) and leading array
items are chains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Protocol, TypeVar

from constrain.errors import LimitExceeded
from constrain.syntax.expr import NOTHING, Expr, Literal, Ref, alt, seq

__all__ = ["Edge", "RuleWriter", "chain"]

S = TypeVar("S", bound=Hashable)
Edge = tuple[Expr, S | None]
"""What is read, and the state of the next layer it leads to; None: the text is over."""

_MAX_STATES = 50_000


class RuleWriter(Protocol):
    """Where rules go."""

    def name(self, wish: str) -> str:
        """Return a free rule name."""

    def add(self, name: str, expr: Expr) -> None:
        """Write a rule down."""


def chain(
    writer: RuleWriter, label: str, first: S, edges: Callable[[S], Iterable[Edge[S]]]
) -> Expr:
    """Return the texts of all ways from `first` to an end. States of a layer never recur later."""
    layers, found, uses = [[first]], {}, Counter[S]()
    while layers[-1]:
        following: dict[S, None] = {}
        for state in layers[-1]:
            found[state] = [edge for edge in edges(state) if edge[0] != NOTHING]
            reached = [target for _, target in found[state] if target is not None]
            uses.update(reached)
            following |= dict.fromkeys(reached)
        if len(found) > _MAX_STATES:
            raise LimitExceeded("states", given=len(found), allowed=_MAX_STATES, place=label)
        layers.append(list(following))
    return _written(writer, label, layers, found, uses)


def _written(
    writer: RuleWriter,
    label: str,
    layers: list[list[S]],
    found: dict[S, list[Edge[S]]],
    uses: Counter[S],
) -> Expr:
    """Write from the last layer backwards. A tail is a linked list: (what is read, the rest)."""
    tails: dict[S, _Tail | None] = {}
    for layer in reversed(layers):
        for state in layer:
            ways = [_prefixed(piece, target, tails) for piece, target in found[state]]
            ways = [way for way in ways if way[0] != NOTHING]
            if not ways:
                tails[state] = (NOTHING, None)
                continue
            tail = ways[0] if len(ways) == 1 else (alt(*map(_joined, ways)), None)
            if uses[state] and (uses[state] > 1 or len(ways) > 1) and not _is_short(tail):
                name = writer.name(label)
                writer.add(name, _joined(tail))
                tail = (Ref(name), None)
            tails[state] = tail
    return _joined(tails[layers[0][0]])


_Tail = tuple[Expr, "_Tail | None"]


def _is_short(tail: _Tail) -> bool:
    return tail[1] is None and isinstance(tail[0], Literal | Ref)


def _prefixed(piece: Expr, target: S | None, tails: dict[S, _Tail | None]) -> _Tail:
    if target is None:
        return piece, None
    rest = tails[target]
    if rest is not None and rest[0] == NOTHING:
        return NOTHING, None
    return piece, rest


def _joined(tail: _Tail | None) -> Expr:
    pieces = []
    while tail is not None:
        pieces.append(tail[0])
        tail = tail[1]
    return seq(*pieces)
