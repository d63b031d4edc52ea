"""States under construction, as lists of packed integers, and finished parts to copy in.

A `Sketch` is what `pda` writes and `flatten` reads. What is the same in many constraints (the
texts of any number, the strings of a format) is built once as a `Fragment`: arrays whose states
count from 0, copied into a sketch by adding an offset. Knows no expressions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.errors import LimitExceeded
from constrain.limits import Deadline, Limits

__all__ = [
    "EDGE_SOURCE",
    "EDGE_TARGET",
    "EPSILON_SOURCE",
    "GUARDED",
    "MAX_STATES",
    "SCARCE",
    "Fragment",
    "Sketch",
]

GUARDED = 1 << 16
"""The bit of an edge that is `Distinct`."""
SCARCE = 1 << 17
"""The bit of a Distinct edge where values that differ may run out."""
EDGE_TARGET = 18
"""An edge is `source << EDGE_SOURCE | target << EDGE_TARGET | lowest byte << 8 | highest byte`."""
EDGE_SOURCE = 40
EPSILON_SOURCE = 32
"""An epsilon edge is `source << EPSILON_SOURCE | target`."""
MAX_STATES = 1 << 22
"""More states do not fit into the 63 bits of an edge."""

_EDGE_STEP = 1 << EDGE_SOURCE | 1 << EDGE_TARGET
_EPSILON_STEP = 1 << EPSILON_SOURCE | 1


@dataclass(frozen=True, eq=False)
class Fragment:
    """A part of an automaton. Its `states` are numbered from 0; it is entered at `start`.

    A text of it leads to `end`, which returns if the fragment is a rule of its own.
    """

    states: int
    start: int
    end: int
    edges: NDArray[np.int64]  # (E,) packed
    epsilons: NDArray[np.int64]  # (P,) packed
    calls: NDArray[np.int64]  # (C, 3) caller, entry, return
    returns: NDArray[np.int64]  # (R,) states that may return
    heads: NDArray[np.int64]  # (L,) loop heads
    loops: NDArray[np.int64]  # (L, 7) their rows of `Automaton.loops`


class Sketch:
    """A growing automaton; write into its lists, but count states with `state` and `take`."""

    def __init__(self, limits: Limits, deadline: Deadline) -> None:
        self.states = 0
        self.edges: list[int] = []
        self.epsilons: list[int] = []
        self.calls: list[tuple[int, int, int]] = []
        self.returns: list[int] = []
        self.loops: dict[int, tuple[int, ...]] = {}
        """For each loop head its row of `Automaton.loops`."""
        self._placed: list[tuple[Fragment, int]] = []
        self._allowed = min(limits.states, MAX_STATES)
        self._deadline = deadline
        self._next_look = 4096

    def take(self, count: int) -> int:
        """Add `count` states without edges; return the first. Raises LimitExceeded."""
        first = self.states
        self.states = first + count
        if self.states > self._allowed:
            raise LimitExceeded("states", given=self.states, allowed=self._allowed)
        if self.states > self._next_look:
            self._next_look = self.states + 4096
            self._deadline.check()
        return first

    def place(self, fragment: Fragment) -> int:
        """Copy `fragment` in; return the number that its state 0 has here."""
        first = self.take(fragment.states)
        self._placed.append((fragment, first))
        return first

    def whole(self, start: int, end: int) -> Fragment:
        """Return everything so far as one fragment, edges sorted by their source."""
        parts = [(self._own(start, end), 0), *self._placed]
        return Fragment(
            states=self.states,
            start=start,
            end=end,
            edges=np.sort(np.concatenate([f.edges + _EDGE_STEP * at for f, at in parts])),
            epsilons=np.sort(np.concatenate([f.epsilons + _EPSILON_STEP * at for f, at in parts])),
            calls=_sorted_rows(np.concatenate([f.calls + at for f, at in parts])),
            returns=np.concatenate([f.returns + at for f, at in parts]),
            heads=np.concatenate([f.heads + at for f, at in parts]),
            loops=np.concatenate([f.loops for f, _ in parts]),
        )

    def _own(self, start: int, end: int) -> Fragment:
        """Return what was written state by state."""
        return Fragment(
            states=self.states,
            start=start,
            end=end,
            edges=np.array(self.edges, dtype=np.int64),
            epsilons=np.array(self.epsilons, dtype=np.int64),
            calls=np.array(self.calls, dtype=np.int64).reshape(-1, 3),
            returns=np.array(self.returns, dtype=np.int64),
            heads=np.array(list(self.loops), dtype=np.int64),
            loops=np.array(list(self.loops.values()), dtype=np.int64).reshape(-1, 7),
        )


def _sorted_rows(calls: NDArray[np.int64]) -> NDArray[np.int64]:
    return calls[np.argsort(calls[:, 0], kind="stable")]
