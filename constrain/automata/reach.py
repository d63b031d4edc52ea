"""What can be reached in an automaton: distances to a return, and calls that never read.

Passes over the arrays of an `Automaton`; arrays in, arrays out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from constrain.jit import inlined, kernel
from constrain.tables import COST, HIGH, LEAST, NO_LOOP, SHORTEST, Automaton

__all__ = ["FAR", "distances", "is_left_recursive"]

FAR = 1 << 60
"""The distance of a state that cannot be completed."""


def distances(a: Automaton) -> NDArray[np.int64]:
    """Return the fewest bytes from each state to a return of its rule, shape (S,), FAR for none."""
    states = len(a.is_return)
    distance = np.full(states, FAR, dtype=np.int64)
    first, before = np.zeros(states + 1, dtype=np.int64), np.zeros(_targets(a), dtype=np.int64)
    queue = np.arange(states, dtype=np.int64)
    _relax(a, distance, first, before, queue, np.ones(states, dtype=np.bool_))
    return distance


def _targets(a: Automaton) -> int:
    return len(a.edge_target) + len(a.epsilon_target) + 2 * len(a.call_entry)


@kernel
def _relax(
    a: Automaton,
    distance: NDArray[np.int64],
    first: NDArray[np.int64],
    before: NDArray[np.int64],
    queue: NDArray[np.int64],
    waiting: NDArray[np.bool_],
) -> int:
    """Lower `distance` (S,) from FAR to what it is; the rest is scratch, all states `waiting`.

    Relaxation with a queue of states whose successors came nearer (Bellman and Ford, over calls as
    in Knuth, "A generalization of Dijkstra's algorithm", 1977).
    """
    states = a.is_return.shape[0]
    _predecessors(a, first, before)
    head, size = 0, states
    while size > 0:
        s = queue[head]
        head = (head + 1) % states
        size -= 1
        waiting[s] = False
        best = _best(a, distance, s)
        if best >= distance[s]:
            continue
        distance[s] = best
        for i in range(first[s], first[s + 1]):
            p = before[i]
            if not waiting[p]:
                waiting[p] = True
                queue[(head + size) % states] = p
                size += 1
    return 0


@inlined
def _predecessors(a: Automaton, first: NDArray[np.int64], before: NDArray[np.int64]) -> None:
    """Write for each state the states whose distance depends on its own, rows `first` (S + 1,)."""
    states = a.is_return.shape[0]
    for targets in (a.edge_target, a.epsilon_target, a.call_entry, a.call_return):
        for target in targets:
            first[target + 1] += 1
    for s in range(states):
        first[s + 1] += first[s]
    for starts, targets in (
        (a.edge_start, a.edge_target),
        (a.epsilon_start, a.epsilon_target),
        (a.call_start, a.call_entry),
        (a.call_start, a.call_return),
    ):
        for s in range(states):
            for i in range(starts[s], starts[s + 1]):
                before[first[targets[i]]] = s
                first[targets[i]] += 1
    for s in range(states, 0, -1):
        first[s] = first[s - 1]
    first[0] = 0


@inlined
def _best(a: Automaton, distance: NDArray[np.int64], s: int) -> int:
    if a.loops[s, HIGH] != NO_LOOP:
        calls = max(a.loops[s, LEAST], a.loops[s, SHORTEST])
        if calls == 0:
            return 0
        cost = a.loops[s, COST]
        if cost == 0:
            cost = distance[a.call_entry[a.call_start[s]]]
        return FAR if cost > FAR // calls else calls * cost
    best = 0 if a.is_return[s] else FAR
    for e in range(a.edge_start[s], a.edge_start[s + 1]):
        best = min(best, distance[a.edge_target[e]] + 1)
    for e in range(a.epsilon_start[s], a.epsilon_start[s + 1]):
        best = min(best, distance[a.epsilon_target[e]])
    for i in range(a.call_start[s], a.call_start[s + 1]):
        best = min(best, distance[a.call_entry[i]] + distance[a.call_return[i]])
    return best


def is_left_recursive(a: Automaton) -> bool:
    """Return whether some call can come back to itself before a byte is read."""
    states = len(a.is_return)
    silent = a.is_return & ((a.loops[:, HIGH] == NO_LOOP) | (a.loops[:, LEAST] == 0))
    scratch = np.zeros((6, states), dtype=np.int64)
    return bool(_has_silent_call_cycle(a, silent, scratch))


@kernel
def _has_silent_call_cycle(
    a: Automaton, silent: NDArray[np.bool_], scratch: NDArray[np.int64]
) -> bool:
    """Return whether a call is inside a cycle of silent moves; `silent` is where a state returns.

    Over the graph of silent moves (epsilon edges, calls, and skipping calls that may read
    nothing), a call inside a strongly connected component would push frames without end.
    Components by Tarjan's algorithm (1972), without recursion.
    """
    states = a.is_return.shape[0]
    _spread(a, silent)
    order, low, component = scratch[0], scratch[1], scratch[2]
    stack, path, place = scratch[3], scratch[4], scratch[5]
    order[:] = -1
    component[:] = -1
    counter, found, height = 0, 0, 0
    for root in range(states):
        if order[root] >= 0:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            s = path[depth]
            if order[s] < 0:
                order[s] = low[s] = counter
                counter += 1
                stack[height] = s
                height += 1
                place[s] = 0
            target = _silent_move(a, silent, s, place[s])
            if target == -1:
                if low[s] == order[s]:
                    while True:
                        height -= 1
                        component[stack[height]] = found
                        if stack[height] == s:
                            break
                    found += 1
                depth -= 1
                if depth >= 0:
                    low[path[depth]] = min(low[path[depth]], low[s])
                continue
            place[s] += 1
            if target == -2:
                continue
            if order[target] < 0:
                depth += 1
                path[depth] = target
            elif component[target] < 0:
                low[s] = min(low[s], order[target])
    for s in range(states):
        for i in range(a.call_start[s], a.call_start[s + 1]):
            if component[s] == component[a.call_entry[i]]:
                return True
    return False


@inlined
def _silent_move(a: Automaton, silent: NDArray[np.bool_], s: int, number: int) -> int:
    """Return the target of silent move `number` of `s`, -2 when it is none, -1 after the last."""
    epsilons = a.epsilon_start[s + 1] - a.epsilon_start[s]
    if number < epsilons:
        return a.epsilon_target[a.epsilon_start[s] + number]
    number -= epsilons
    calls = a.call_start[s + 1] - a.call_start[s]
    if number >= 2 * calls:
        return -1
    i = a.call_start[s] + number // 2
    if number % 2 == 0:
        return a.call_entry[i]
    return a.call_return[i] if silent[a.call_entry[i]] else -2


@inlined
def _spread(a: Automaton, silent: NDArray[np.bool_]) -> None:
    """Mark as silent all states that may return without reading, given those that return."""
    states = a.is_return.shape[0]
    changed = True
    while changed:
        changed = False
        for s in range(states):
            if silent[s]:
                continue
            looping = a.loops[s, HIGH] != NO_LOOP
            may = False
            for e in range(a.epsilon_start[s], a.epsilon_start[s + 1]):
                may = may or silent[a.epsilon_target[e]]
            for i in range(a.call_start[s], a.call_start[s + 1]):
                skips = silent[a.call_entry[i]]
                may = may or (skips and (looping or silent[a.call_return[i]]))
            if may:
                silent[s] = True
                changed = True
