"""Deterministic automata over characters: determinise, intersect, complement, minimise.

A `CharDfa` reads Unicode scalar values grouped into classes that its states do not tell apart. It
exists for set algebra (`And`, `Not`, `Divisible`), which needs determinism; what needs none stays
nondeterministic and is determinised lazily while matching (see constrain.configurations).

Algorithms: subset construction (Rabin and Scott 1959), product construction, Moore's partition
refinement (1956) by vectorised renumbering.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.errors import LimitExceeded
from constrain.limits import Deadline, Limits
from constrain.syntax.charset import ANY, CharSet

__all__ = [
    "DEAD",
    "CharDfa",
    "complement",
    "determinize",
    "divisible",
    "intersect",
    "longest_completions",
    "minimize",
    "partition",
    "shortest_completions",
]

_MEMBERS = 4
"""So many NFA states in a subset take the room of one DFA state."""
DEAD = -1
_MINIMIZE_ROUNDS = 400
_MINIMIZE_STATES = 2000
"""Minimising saves later work; beyond so many states it costs more than it saves."""
_PRODUCT_SPACE = 1 << 28
"""Pairs of states that an intersection may have to mark, one byte each."""


@dataclass(frozen=True, slots=True)
class CharDfa:
    """`table[state][k]` is the state after a character of `classes[k]`, or DEAD. Starts at 0."""

    classes: tuple[CharSet, ...]
    table: tuple[tuple[int, ...], ...]
    accepting: tuple[bool, ...]

    def grouped(self) -> Iterator[list[tuple[CharSet, int]]]:
        """Yield for each state its live edges as (all characters leading there, target)."""
        unions: dict[tuple[int, ...], CharSet] = {}
        for row in self.table:
            leading: dict[int, list[int]] = {}
            for k, target in enumerate(row):
                if target != DEAD:
                    leading.setdefault(target, []).append(k)
            edges = []
            for target, numbers in leading.items():
                key = tuple(numbers)
                union = unions.get(key)
                if union is None:
                    union = CharSet.of(r for k in key for r in self.classes[k].ranges)
                    unions[key] = union
                edges.append((union, target))
            yield edges

    def is_empty(self) -> bool:
        """Return whether no text is accepted (true iff no state accepts, when trimmed)."""
        return not any(self.accepting)


def partition(charsets: Iterable[CharSet]) -> tuple[CharSet, ...]:
    """Return the coarsest partition of all characters that no given set cuts through."""
    distinct = list(dict.fromkeys(charsets))
    points: dict[int, list[int]] = {0: []}
    for number, charset in enumerate(distinct):
        for low, high in charset.ranges:
            points.setdefault(low, []).append(number)
            points.setdefault(high + 1, []).append(number)
    blocks: dict[frozenset[int], list[tuple[int, int]]] = {}
    inside: set[int] = set()
    starts = sorted(points)
    for start, following in zip(starts, [*starts[1:], 0x110000], strict=True):
        inside.symmetric_difference_update(points[start])
        if start < following:
            blocks.setdefault(frozenset(inside), []).append((start, following - 1))
    classes = (CharSet.of(ranges) for ranges in blocks.values())
    return tuple(charset for charset in classes if charset)


def determinize(
    edges: Sequence[Sequence[tuple[CharSet, int]]],
    epsilon: Sequence[Sequence[int]],
    start: int,
    final: int,
    limits: Limits,
    deadline: Deadline,
) -> CharDfa:
    """Return the trimmed DFA of an NFA whose edges are labelled by CharSets."""
    classes = partition(charset for row in edges for charset, _ in row)
    members = {
        charset: [k for k, block in enumerate(classes) if block.ranges[0][0] in charset]
        for charset in dict.fromkeys(charset for row in edges for charset, _ in row)
    }
    closures = _Closures(edges, epsilon)
    first = closures.of((start,))
    numbers = {first: 0}
    queue = [first]
    table: list[tuple[int, ...]] = []
    size = 0
    for subset in queue:
        if len(table) % 64 == 0:
            deadline.check()
        size += len(subset)
        _check_states(size // _MEMBERS, limits)
        targets: list[set[int]] = [set() for _ in classes]
        for state in subset:
            for charset, target in edges[state]:
                for k in members[charset]:
                    targets[k].add(target)
        row = []
        for reached in targets:
            if not reached:
                row.append(DEAD)
                continue
            closed = closures.of(tuple(sorted(reached)))
            number = numbers.setdefault(closed, len(numbers))
            if number == len(queue):
                _check_states(number + 1, limits)
                queue.append(closed)
            row.append(number)
        table.append(tuple(row))
    return _trimmed(classes, table, [final in subset for subset in queue])


class _Closures:
    """Epsilon closures, reduced to the states that matter: those with edges, and final ones."""

    def __init__(
        self, edges: Sequence[Sequence[tuple[CharSet, int]]], epsilon: Sequence[Sequence[int]]
    ) -> None:
        self._edges = edges
        self._epsilon = epsilon
        self._known: dict[tuple[int, ...], frozenset[int]] = {}

    def of(self, states: tuple[int, ...]) -> frozenset[int]:
        known = self._known.get(states)
        if known is None:
            known = self._known[states] = self._close(states)
        return known

    def _close(self, states: tuple[int, ...]) -> frozenset[int]:
        seen = set(states)
        work = list(states)
        while work:
            for target in self._epsilon[work.pop()]:
                if target not in seen:
                    seen.add(target)
                    work.append(target)
        return frozenset(s for s in seen if self._edges[s] or not self._epsilon[s])


def intersect(left: CharDfa, right: CharDfa, limits: Limits) -> CharDfa:
    """Return the DFA of the texts that both accept.

    A product state is one integer, so a whole frontier of them is stepped at once.
    """
    pairs = [
        (charset, i, j)
        for i, a in enumerate(left.classes)
        for j, b in enumerate(right.classes)
        for charset in [a & b]
        if charset
    ]
    columns = np.array([(i, j) for _, i, j in pairs], dtype=np.int64).reshape(-1, 2)
    first, second = _matrix(left)[:, columns[:, 0]], _matrix(right)[:, columns[:, 1]]
    width = len(right.table)
    if len(left.table) * width > _PRODUCT_SPACE:
        raise LimitExceeded("states", given=len(left.table) * width, allowed=_PRODUCT_SPACE)
    reached = np.zeros(len(left.table) * width, dtype=np.bool_)
    frontier = np.zeros(1, dtype=np.int64)
    found = [frontier]
    reached[0] = True
    while len(frontier):
        targets = _product(first, second, frontier, width)
        frontier = np.unique(targets[targets != DEAD])
        frontier = frontier[~reached[frontier]]
        reached[frontier] = True
        found.append(frontier)
        _check_states(int(np.count_nonzero(reached)), limits)
    states = np.concatenate(found)
    numbers = np.full(len(reached) + 1, DEAD, dtype=np.int64)
    numbers[states] = np.arange(len(states))
    table = numbers[_product(first, second, states, width)]
    accepting = _accepting(left)[states // width] & _accepting(right)[states % width]
    return _trimmed_matrix(tuple(charset for charset, _, _ in pairs), table, accepting)


def _product(
    first: NDArray[np.int64], second: NDArray[np.int64], states: NDArray[np.int64], width: int
) -> NDArray[np.int64]:
    """Return where each product state goes, shape (states, classes), DEAD where either does."""
    a, b = first[states // width], second[states % width]
    return np.where((a == DEAD) | (b == DEAD), DEAD, a * width + b)


def _matrix(dfa: CharDfa) -> NDArray[np.int64]:
    return np.array(dfa.table, dtype=np.int64).reshape(len(dfa.table), len(dfa.classes))


def _accepting(dfa: CharDfa) -> NDArray[np.bool_]:
    return np.array(dfa.accepting, dtype=np.bool_)


def shortest_completions(dfa: CharDfa) -> list[int]:
    """Return for each state of a trimmed DFA the length of the shortest text accepted from it."""
    sources = _sources(dfa)
    shortest = [0 if accepts else DEAD for accepts in dfa.accepting]
    work = [state for state, accepts in enumerate(dfa.accepting) if accepts]
    for state in work:
        for source in sources[state]:
            if shortest[source] == DEAD:
                shortest[source] = shortest[state] + 1
                work.append(source)
    return shortest


def longest_completions(dfa: CharDfa) -> list[int]:
    """Return for each state of a trimmed DFA the length of the longest text, DEAD for no bound."""
    sources = _sources(dfa)
    waiting = [len(set(row) - {DEAD}) for row in dfa.table]
    longest = [DEAD] * len(dfa.table)
    work = [state for state, count in enumerate(waiting) if count == 0]
    while work:
        state = work.pop()
        longest[state] = max((longest[t] + 1 for t in dfa.table[state] if t != DEAD), default=0)
        for source in sources[state]:
            waiting[source] -= 1
            if waiting[source] == 0:
                work.append(source)
    return longest


def _sources(dfa: CharDfa) -> list[list[int]]:
    sources: list[list[int]] = [[] for _ in dfa.table]
    for source, row in enumerate(dfa.table):
        for target in set(row) - {DEAD}:
            sources[target].append(source)
    return sources


def complement(dfa: CharDfa) -> CharDfa:
    """Return the DFA of the texts of scalar values that `dfa` does not accept."""
    covered = CharSet.of(r for charset in dfa.classes for r in charset.ranges)
    rest = ANY - covered
    classes = (*dfa.classes, rest) if rest else dfa.classes
    sink = len(dfa.table)
    table = [
        tuple(sink if target == DEAD else target for target in (*row, *([DEAD] if rest else [])))
        for row in dfa.table
    ]
    table.append((sink,) * len(classes))
    return _trimmed(classes, table, [not accepting for accepting in (*dfa.accepting, False)])


def divisible(divisor: int, places: int, limits: Limits) -> CharDfa:
    """Return the DFA of `Divisible`: after the start, a block of remainders for each place.

    The first block stands before the point, the next has just read it, and the last takes zeros.
    """
    blocks = places + 2 if places else 1
    _check_states(1 + divisor * blocks, limits)
    symbols = [*range(ord("0"), ord("9") + 1), *([ord(".")] if places else [])]
    classes = tuple(CharSet(((c, c),)) for c in symbols)

    def row(block: int, rest: int) -> tuple[int, ...]:
        following = [1 + (10 * rest + d) % divisor for d in range(10)]
        if block == 0:
            return (*following, *([1 + divisor + rest] if places else []))
        if block == blocks - 1:
            return (1 + divisor * block + rest, *[DEAD] * 10)
        return (*(divisor * (block + 1) + target for target in following), DEAD)

    start = (*(1 + d % divisor for d in range(10)), *([DEAD] if places else []))
    rows = [row(block, rest) for block in range(blocks) for rest in range(divisor)]
    scales = [places, None, *range(places - 1, -1, -1)][:blocks]
    accepting = [
        scale is not None and rest * 10**scale % divisor == 0
        for scale in scales
        for rest in range(divisor)
    ]
    return _trimmed(classes, [start, *rows], [False, *accepting])


def minimize(dfa: CharDfa) -> CharDfa:
    """Return the smallest equivalent DFA; a large or very long one is returned as it is."""
    if len(dfa.table) > _MINIMIZE_STATES:
        return dfa
    table = _matrix(dfa)
    # Equivalent states agree in their longest text, so that is a good first guess: a counted
    # repetition, whose states differ in nothing else, is told apart in one round.
    guess = np.column_stack([dfa.accepting, longest_completions(dfa)])
    _, block = np.unique(guess, axis=0, return_inverse=True)
    block = block.reshape(-1)
    count = int(block.max()) + 1
    for _ in range(_MINIMIZE_ROUNDS):
        signature = np.where(table == DEAD, DEAD, block[table])
        rows = np.column_stack([block, signature])
        _, block = np.unique(rows, axis=0, return_inverse=True)
        block = block.reshape(-1)
        if int(block.max()) + 1 == count:
            break
        count = int(block.max()) + 1
    else:
        return dfa
    return _quotient(dfa, block.tolist())


def _quotient(dfa: CharDfa, block: list[int]) -> CharDfa:
    numbers: dict[int, int] = {}
    chosen: list[int] = []
    for state, name in enumerate(block):
        if name not in numbers:
            numbers[name] = len(chosen)
            chosen.append(state)
    table = tuple(
        tuple(DEAD if t == DEAD else numbers[block[t]] for t in dfa.table[state])
        for state in chosen
    )
    return CharDfa(dfa.classes, table, tuple(dfa.accepting[state] for state in chosen))


def _trimmed(
    classes: tuple[CharSet, ...], table: list[tuple[int, ...]], accepting: list[bool]
) -> CharDfa:
    matrix = np.array(table, dtype=np.int64).reshape(len(table), len(classes))
    return _trimmed_matrix(classes, matrix, np.array(accepting, dtype=np.bool_))


def _trimmed_matrix(
    classes: tuple[CharSet, ...], table: NDArray[np.int64], accepting: NDArray[np.bool_]
) -> CharDfa:
    """Cut edges into states from which nothing is accepted; drop those and unreachable states."""
    states = len(table)
    reachable = np.zeros(states, dtype=np.bool_)
    frontier = np.zeros(1, dtype=np.int64)
    while len(frontier):
        reachable[frontier] = True
        frontier = np.unique(table[frontier])
        frontier = frontier[(frontier != DEAD) & ~reachable[frontier]]
    accepting = accepting & reachable
    sources, columns = np.nonzero(table != DEAD)
    targets = table[sources, columns]
    order = np.argsort(targets, kind="stable")
    sources, starts = sources[order], np.searchsorted(targets[order], np.arange(states + 1))
    alive = accepting.copy()
    work = np.flatnonzero(alive)
    while len(work):
        spans = [sources[starts[state] : starts[state + 1]] for state in work.tolist()]
        work = np.unique(np.concatenate(spans))
        work = work[~alive[work]]
        alive[work] = True
    kept = alive & reachable
    kept[0] = True
    numbers = np.where(alive & reachable, np.cumsum(kept) - 1, DEAD)
    rows = np.where(table == DEAD, DEAD, numbers[table])[kept]
    return CharDfa(classes, tuple(map(tuple, rows.tolist())), tuple(accepting[kept].tolist()))


def _check_states(given: int, limits: Limits) -> None:
    if given > limits.states:
        raise LimitExceeded("states", given=given, allowed=limits.states)
