"""A sketched automaton to flat arrays, with every dead end cut off.

Takes states as Python lists; gives the `Automaton` that kernels read. A state is kept alive only
when a return of its rule can be reached from it, so whatever a matcher reaches can be completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from constrain.automata.reach import FAR, distances, is_left_recursive
from constrain.errors import ConstraintError, UnsatisfiableSchema
from constrain.tables import HIGH, NO_LOOP, Automaton

__all__ = ["ALL_BYTES", "GUARDED", "Edges", "Sketch", "flatten"]


ALL_BYTES = frozenset(range(256))
GUARDED = 256
"""Added to both ends of the byte range of an edge that is `Distinct`."""
Edges = list[list[tuple[tuple[int, int], int]]]
"""For each state its ((low, high), target): byte ranges, inclusive, GUARDED or not."""


@dataclass
class Sketch:
    """States under construction; `edges[s]` are ((low, high), target), byte ranges inclusive."""

    edges: Edges
    epsilon: list[list[int]]
    calls: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    returns: set[int] = field(default_factory=set)
    loops: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """For each loop head its row of `Automaton.loops`."""


def flatten(sketch: Sketch, start: int, writable: frozenset[int] = ALL_BYTES) -> Automaton:
    """Return the arrays of `sketch`; raises ConstraintError when `start` cannot be completed.

    Only bytes in `writable` stay on edges: a byte that no token of its own spells could strand a
    text in the middle of a character.
    """
    whole = _arrays(sketch, start, writable)
    distance = distances(whole)
    if distance[start] >= FAR:
        raise UnsatisfiableSchema(
            "no text that the vocabulary can write satisfies the constraint",
            remedy="look for bounds that exclude each other, or a part that contains itself",
        )
    trimmed = _trimmed(whole, distance)
    if is_left_recursive(trimmed):
        raise ConstraintError(
            "a rule begins with itself (left recursion)", remedy="write it as a repetition"
        )
    return trimmed


def _arrays(sketch: Sketch, start: int, writable: frozenset[int]) -> Automaton:
    states = len(sketch.edges)
    rows = sketch.edges if writable == ALL_BYTES else _restricted(sketch.edges, writable)
    edges = [(low, high, target) for row in rows for (low, high), target in row]
    labels = np.array(edges, dtype=np.int32).reshape(-1, 3)
    calls = [sketch.calls.get(s, ()) for s in range(states)]
    pairs = np.array([c for row in calls for c in row], dtype=np.int32).reshape(-1, 2)
    is_return = np.zeros(states, dtype=np.bool_)
    is_return[list(sketch.returns)] = True
    loops = np.zeros((states, 7), dtype=np.int64)
    loops[:, HIGH] = NO_LOOP
    for state, row in sketch.loops.items():
        loops[state] = row
    guarded = labels[:, 0] >= GUARDED
    labels[:, :2] -= guarded[:, np.newaxis] * GUARDED
    byte_class, class_byte, repeat_class = _byte_classes(labels, guarded)
    return Automaton(
        edge_start=_offsets(rows),
        edge_low=labels[:, 0].astype(np.uint8),
        edge_high=labels[:, 1].astype(np.uint8),
        edge_target=labels[:, 2].copy(),
        edge_guarded=guarded,
        epsilon_start=_offsets(sketch.epsilon),
        epsilon_target=np.array([t for row in sketch.epsilon for t in row], dtype=np.int32),
        call_start=_offsets(calls),
        call_entry=pairs[:, 0].copy(),
        call_return=pairs[:, 1].copy(),
        is_return=is_return,
        loops=loops,
        distance=np.zeros(states, dtype=np.int64),
        byte_class=byte_class,
        class_byte=class_byte,
        repeat_class=repeat_class,
        start=np.array([start], dtype=np.int32),
    )


def _restricted(edges: Edges, writable: frozenset[int]) -> Edges:
    """Return the rows with every byte range cut down to the runs of writable bytes in it."""
    runs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for low, high in {label for row in edges for label, _ in row}:
        inside = [byte % GUARDED in writable for byte in range(low, high + 1)]
        starts = [i for i, ok in enumerate(inside) if ok and not (i and inside[i - 1])]
        ends = [i for i, ok in enumerate(inside) if ok and inside[i + 1 : i + 2] != [True]]
        runs[low, high] = [(low + a, low + b) for a, b in zip(starts, ends, strict=True)]
    return [[(run, target) for label, target in row for run in runs[label]] for row in edges]


def _trimmed(a: Automaton, distance: NDArray[np.int64]) -> Automaton:
    """Return `a` without the edges and calls that lead to what cannot be completed."""
    alive = distance < FAR
    edges = alive[a.edge_target]
    epsilons = alive[a.epsilon_target]
    calls = alive[a.call_entry] & alive[a.call_return]
    return a._replace(
        edge_start=_kept_offsets(a.edge_start, edges),
        edge_low=a.edge_low[edges],
        edge_high=a.edge_high[edges],
        edge_target=a.edge_target[edges],
        edge_guarded=a.edge_guarded[edges],
        epsilon_start=_kept_offsets(a.epsilon_start, epsilons),
        epsilon_target=a.epsilon_target[epsilons],
        call_start=_kept_offsets(a.call_start, calls),
        call_entry=a.call_entry[calls],
        call_return=a.call_return[calls],
        distance=distance,
    )


def _offsets(rows: Sequence[Sequence[object]]) -> NDArray[np.int32]:
    offsets = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return offsets


def _kept_offsets(offsets: NDArray[np.int32], kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return row offsets after the entries that are not `kept` have gone."""
    before = np.zeros(len(kept) + 1, dtype=np.int32)
    np.cumsum(kept, out=before[1:])
    return before[offsets]


def _byte_classes(
    labels: NDArray[np.int32], guarded: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.int16], NDArray[np.int16]]:
    """Return (class of each byte, one byte of each class, class of each byte after a repetition).

    Every range (low, high, target) starts or ends a class, and classes are runs of bytes: a byte's
    class is the number of boundaries below it. No edge tells the bytes of a class apart. Bytes of
    guarded edges have a second class, whose byte is GUARDED more: it takes no guarded edge.
    """
    boundary = np.zeros(257, dtype=np.bool_)
    boundary[labels[:, 0]] = True
    boundary[labels[:, 1] + 1] = True
    boundary[0] = False
    classes = np.cumsum(boundary[:256]).astype(np.uint8)
    _, first = np.unique(classes, return_index=True)
    watched = np.unique(labels[guarded, 0])
    repeat_class = classes.astype(np.int16)
    repeat_class[watched] = len(first) + np.arange(len(watched))
    return classes, np.concatenate((first, watched + GUARDED)).astype(np.int16), repeat_class
