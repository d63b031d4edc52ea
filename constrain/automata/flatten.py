"""A sketched automaton to flat arrays, with every dead end cut off.

Takes a Sketch; gives the `Automaton` that kernels read. A state is kept alive only
when a return of its rule can be reached from it, so whatever a matcher reaches can be completed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from constrain.automata.reach import FAR, distances, is_left_recursive
from constrain.automata.sketch import (
    EDGE_SOURCE,
    EDGE_TARGET,
    EPSILON_SOURCE,
    GUARDED,
    MAX_STATES,
    Sketch,
)
from constrain.errors import ConstraintError, UnsatisfiableSchema
from constrain.tables import HIGH, NO_LOOP, Automaton

__all__ = ["ALL_BYTES", "flatten"]

ALL_BYTES = frozenset(range(256))


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
    whole = sketch.whole(start, start)
    states = whole.states
    edges = whole.edges if writable == ALL_BYTES else _restricted(whole.edges, writable)
    low, high = (edges >> 8 & 0xFF).astype(np.uint8), (edges & 0xFF).astype(np.uint8)
    is_return = np.zeros(states, dtype=np.bool_)
    is_return[whole.returns] = True
    loops = np.zeros((states, 7), dtype=np.int64)
    loops[:, HIGH] = NO_LOOP
    loops[whole.heads] = whole.loops
    guarded = (edges & GUARDED) != 0
    byte_class, class_byte, repeat_class = _byte_classes(low, high, guarded)
    return Automaton(
        edge_start=_offsets(edges >> EDGE_SOURCE, states),
        edge_low=low,
        edge_high=high,
        edge_target=(edges >> EDGE_TARGET & MAX_STATES - 1).astype(np.int32),
        edge_guarded=((edges >> 16) & 3).astype(np.uint8),
        epsilon_start=_offsets(whole.epsilons >> EPSILON_SOURCE, states),
        epsilon_target=whole.epsilons.astype(np.int32),
        call_start=_offsets(whole.calls[:, 0], states),
        call_entry=whole.calls[:, 1].astype(np.int32),
        call_return=whole.calls[:, 2].astype(np.int32),
        is_return=is_return,
        loops=loops,
        distance=np.zeros(states, dtype=np.int64),
        byte_class=byte_class,
        class_byte=class_byte,
        repeat_class=repeat_class,
        start=np.array([start], dtype=np.int32),
    )


def _restricted(edges: NDArray[np.int64], writable: frozenset[int]) -> NDArray[np.int64]:
    """Return the edges with every byte range cut down to the runs of writable bytes in it."""
    labels, place = np.unique(edges & 0xFFFF, return_inverse=True)
    runs = [_runs(label >> 8, label & 0xFF, writable) for label in labels.tolist()]
    counts = np.array([len(found) for found in runs], dtype=np.int64)
    flat = np.array([run for found in runs for run in found], dtype=np.int64)
    first = np.cumsum(counts) - counts
    copies = counts[place]
    number = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
    ends: NDArray[np.int64] = np.repeat(edges & ~0xFFFF, copies)
    ends |= flat[np.repeat(first[place], copies) + number]
    return ends


def _runs(low: int, high: int, writable: frozenset[int]) -> list[int]:
    """Return the runs of writable bytes from `low` to `high`, each as first << 8 | last."""
    runs: list[int] = []
    for byte in range(low, high + 1):
        if byte not in writable:
            continue
        if runs and runs[-1] & 0xFF == byte - 1:
            runs[-1] += 1
        else:
            runs.append(byte << 8 | byte)
    return runs


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


def _offsets(sources: NDArray[np.int64], states: int) -> NDArray[np.int32]:
    """Return where the rows of each state begin, for entries sorted by their source."""
    offsets = np.zeros(states + 1, dtype=np.int32)
    np.cumsum(np.bincount(sources, minlength=states), out=offsets[1:])
    return offsets


def _kept_offsets(offsets: NDArray[np.int32], kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return row offsets after the entries that are not `kept` have gone."""
    before = np.zeros(len(kept) + 1, dtype=np.int32)
    np.cumsum(kept, out=before[1:])
    return before[offsets]


def _byte_classes(
    low: NDArray[np.uint8], high: NDArray[np.uint8], guarded: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.int16], NDArray[np.int16]]:
    """Return (class of each byte, one byte of each class, class of each byte after a repetition).

    Every range `low` to `high` starts or ends a class, and classes are runs of bytes: a byte's
    class is the number of boundaries below it. No edge tells the bytes of a class apart. Bytes of
    guarded edges have a second class, whose byte is 256 more: it takes no guarded edge.
    """
    boundary = np.zeros(257, dtype=np.bool_)
    boundary[low] = True
    boundary[high.astype(np.int64) + 1] = True
    boundary[0] = False
    classes = np.cumsum(boundary[:256]).astype(np.uint8)
    first = np.flatnonzero(np.concatenate([[True], boundary[1:256]]))
    watched = np.unique(low[guarded]).astype(np.int16)
    repeat_class = classes.astype(np.int16)
    repeat_class[watched] = len(first) + np.arange(len(watched))
    return classes, np.concatenate((first, watched + 256)).astype(np.int16), repeat_class
