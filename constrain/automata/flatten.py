"""A sketched automaton to flat arrays, with every dead end cut off.

Takes states as Python lists; gives the `Automaton` that kernels read. A state is kept alive only
when a return of its rule can be reached from it, so whatever a matcher reaches can be completed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from constrain.errors import ConstraintError, UnsatisfiableSchema
from constrain.tables import NO_LOOP, Automaton

__all__ = ["Sketch", "flatten"]

_FAR = 1 << 60


@dataclass
class Sketch:
    """States under construction; `edges[s]` are ((low, high), target), byte ranges inclusive."""

    edges: list[list[tuple[tuple[int, int], int]]]
    epsilon: list[list[int]]
    calls: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    returns: set[int] = field(default_factory=set)
    loops: dict[int, tuple[int, int]] = field(default_factory=dict)


def flatten(sketch: Sketch, start: int) -> Automaton:
    """Return the arrays of `sketch`; raises ConstraintError when `start` cannot be completed."""
    distance = _distances(sketch)
    if distance[start] >= _FAR:
        raise UnsatisfiableSchema(
            "no text satisfies the constraint",
            remedy="look for bounds that exclude each other, or a part that contains itself",
        )
    alive = [d < _FAR for d in distance]
    _refuse_left_recursion(sketch, alive)
    edges = [[e for e in row if alive[e[1]]] for row in sketch.edges]
    epsilon = [[t for t in row if alive[t]] for row in sketch.epsilon]
    calls = [
        [c for c in sketch.calls.get(s, ()) if alive[c[0]] and alive[c[1]]]
        for s in range(len(edges))
    ]
    loops = [sketch.loops.get(s, (0, NO_LOOP)) for s in range(len(edges))]
    byte_class, class_byte = _byte_classes(edges)
    flat_edges = [e for row in edges for e in row]
    flat_calls = [c for row in calls for c in row]
    return Automaton(
        edge_start=_offsets(edges),
        edge_low=np.array([low for (low, _), _ in flat_edges], dtype=np.uint8),
        edge_high=np.array([high for (_, high), _ in flat_edges], dtype=np.uint8),
        edge_target=np.array([target for _, target in flat_edges], dtype=np.int32),
        epsilon_start=_offsets(epsilon),
        epsilon_target=np.array([t for row in epsilon for t in row], dtype=np.int32),
        call_start=_offsets(calls),
        call_entry=np.array([entry for entry, _ in flat_calls], dtype=np.int32),
        call_return=np.array([then for _, then in flat_calls], dtype=np.int32),
        is_return=np.array([s in sketch.returns for s in range(len(edges))], dtype=np.bool_),
        loop_min=np.array([low for low, _ in loops], dtype=np.int64),
        loop_max=np.array([high for _, high in loops], dtype=np.int64),
        distance=np.array(distance, dtype=np.int64),
        byte_class=byte_class,
        class_byte=class_byte,
        start=np.array([start], dtype=np.int32),
    )


def _distances(sketch: Sketch) -> list[int]:
    """Return the fewest bytes from each state to a return of its rule, _FAR when there is none.

    Relaxation to a fixed point (Bellman and Ford, generalised to calls as in Knuth 1977).
    Continuations are numbered before what leads to them, so few rounds are needed.
    """
    distance = [_FAR] * len(sketch.edges)
    for state in sketch.returns:
        distance[state] = 0
    order = range(len(distance))
    changed = True
    while changed:
        changed = False
        for state in order:
            best = _best(sketch, distance, state)
            if best < distance[state]:
                distance[state] = best
                changed = True
    return distance


def _best(sketch: Sketch, distance: list[int], state: int) -> int:
    best = distance[state]
    for _, target in sketch.edges[state]:
        best = min(best, distance[target] + 1)
    for target in sketch.epsilon[state]:
        best = min(best, distance[target])
    loop = sketch.loops.get(state)
    if loop is not None:
        entry = sketch.calls[state][0][0]
        return min(best, _FAR, loop[0] * distance[entry] if loop[0] else 0)
    for entry, then in sketch.calls.get(state, ()):
        best = min(best, distance[entry] + distance[then])
    return best


def _refuse_left_recursion(sketch: Sketch, alive: list[bool]) -> None:
    """Raise ConstraintError when a rule can call itself before reading a byte."""
    entries = {entry for row in sketch.calls.values() for entry, _ in row if alive[entry]}
    nullable = _nullable_entries(sketch, entries)
    graph = {entry: _first_calls(sketch, entry, nullable) for entry in entries}
    done: set[int] = set()
    for root in entries:
        stack = [(root, iter(graph[root]))]
        path = {root}
        while stack and root not in done:
            node, following = stack[-1]
            target = next(following, None)
            if target is None:
                stack.pop()
                path.discard(node)
                done.add(node)
            elif target in path:
                raise ConstraintError(
                    "a rule begins with itself (left recursion)",
                    remedy="write it as a repetition",
                )
            elif target not in done:
                path.add(target)
                stack.append((target, iter(graph[target])))


def _nullable_entries(sketch: Sketch, entries: Iterable[int]) -> set[int]:
    nullable: set[int] = set()
    changed = True
    while changed:
        found = {
            entry
            for entry in entries
            if entry not in nullable
            and any(_may_return(sketch, s) for s in _silent(sketch, entry, nullable))
        }
        changed = bool(found)
        nullable |= found
    return nullable


def _may_return(sketch: Sketch, state: int) -> bool:
    return state in sketch.returns or sketch.loops.get(state, (1, 0))[0] == 0


def _first_calls(sketch: Sketch, entry: int, nullable: set[int]) -> set[int]:
    silent = _silent(sketch, entry, nullable)
    return {callee for state in silent for callee, _ in sketch.calls.get(state, ())}


def _silent(sketch: Sketch, entry: int, nullable: set[int]) -> set[int]:
    """Return the states of the rule that are reached from `entry` without reading a byte."""
    seen = {entry}
    work = [entry]
    while work:
        state = work.pop()
        skipped = [then for callee, then in sketch.calls.get(state, ()) if callee in nullable]
        for target in (*sketch.epsilon[state], *skipped):
            if target not in seen:
                seen.add(target)
                work.append(target)
    return seen


def _offsets(rows: Sequence[Sequence[object]]) -> NDArray[np.int32]:
    offsets = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return offsets


def _byte_classes(
    edges: list[list[tuple[tuple[int, int], int]]],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return (class of each byte, one byte of each class): bytes that no edge tells apart.

    Every range starts or ends a class, and classes are runs of bytes: a byte's class is the number
    of boundaries below it. Bytes that no edge reads may share one class with each other only.
    """
    boundary = np.zeros(257, dtype=np.bool_)
    for low, high in {label for row in edges for label, _ in row}:
        boundary[low] = True
        boundary[high + 1] = True
    boundary[0] = False
    classes = np.cumsum(boundary[:256]).astype(np.uint8)
    _, first = np.unique(classes, return_index=True)
    return classes, first.astype(np.uint8)
