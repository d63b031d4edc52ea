"""A sketch with its rules determinised: calls are letters, like bytes.

Where two alternatives begin alike, `"(" e ")" | "(" e "," e ")"`, a text of n open parentheses has
2^n stacks, one for each guess which alternative it is in. Taken as an automaton over bytes *and*
callees, the rule has one state after `"(" e`, hence one stack. So the subset construction is done
for the rules of a grammar before matching; what is entered by different callees stays apart.

It can be exponential (a regex that looks far back); past a budget of states the sketch stays as it
is, which is the same language. Loop heads carry counts and are never merged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from constrain.automata.sketch import (
    EDGE_SOURCE,
    EDGE_TARGET,
    EPSILON_SOURCE,
    GUARDED,
    MAX_STATES,
    Fragment,
    Sketch,
)

__all__ = ["joined"]

_States = frozenset[int]
_FACTOR, _EXTRA = 3, 2000
"""The most states that may come of one, and on top of all."""
_BYTES = 256
"""Added to the bytes of a guarded edge, which is another letter."""


def joined(sketch: Sketch, start: int, into: Sketch) -> tuple[Sketch, int]:
    """Return (a sketch of the same language, its start) with few choices between equal calls.

    It is written `into` an empty sketch, or `sketch` itself where it would grow too large.
    """
    work = _Joining(_Rows(sketch.whole(start, start)), into)
    first = work.state([start])
    return (into, first) if work.run(_FACTOR * sketch.states + _EXTRA) else (sketch, start)


class _Rows:
    """A fragment, state by state."""

    def __init__(self, whole: Fragment) -> None:
        self.edges: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self.epsilons: dict[int, list[int]] = defaultdict(list)
        self.calls: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for edge in whole.edges.tolist():
            low, high, target = edge >> 8 & 0xFF, edge & 0xFF, edge >> EDGE_TARGET & MAX_STATES - 1
            other = _BYTES if edge & GUARDED else 0
            self.edges[edge >> EDGE_SOURCE].append((low + other, high + other, target))
        for epsilon in whole.epsilons.tolist():
            source = epsilon >> EPSILON_SOURCE
            self.epsilons[source].append(epsilon & (1 << EPSILON_SOURCE) - 1)
        for caller, entry, back in whole.calls.tolist():
            self.calls[caller].append((entry, back))
        self.returns = frozenset(whole.returns.tolist())
        heads, rows = whole.heads.tolist(), map(tuple, whole.loops.tolist())
        self.loops = dict(zip(heads, rows, strict=True))


class _Joining:
    def __init__(self, old: _Rows, new: Sketch) -> None:
        self._old = old
        self._new = new
        self._numbers: dict[_States, int] = {}
        self._queue: list[_States] = []
        self._closures: dict[int, _States] = {}

    def run(self, most: int) -> bool:
        """Write the rows of all states that are met; False: they are more than `most`."""
        while self._queue and len(self._numbers) <= most:
            members = self._queue.pop()
            number = self._numbers[members]
            heads = sorted(members & self._old.loops.keys())
            if len(heads) == len(members) == 1:
                self._write_head(number, heads[0])
                continue
            for head in heads:
                self._new.epsilons.append(number << EPSILON_SOURCE | self.state([head]))
            self._write(number, members.difference(heads))
        return not self._queue

    def state(self, states: Iterable[int]) -> int:
        """Return the new state for being in any of `states`."""
        members = frozenset[int]().union(*(self._closure(state) for state in states))
        number = self._numbers.get(members)
        if number is None:
            number = self._numbers[members] = self._new.take(1)
            self._queue.append(members)
        return number

    def _closure(self, state: int) -> _States:
        """Return what `state` reaches silently, less the states that only lead on."""
        known = self._closures.get(state)
        if known is None:
            seen, work = {state}, [state]
            while work:
                targets = self._old.epsilons.get(work.pop(), ())
                work.extend(target for target in targets if target not in seen)
                seen.update(targets)
            known = self._closures[state] = frozenset(s for s in seen if self._matters(s))
        return known

    def _matters(self, state: int) -> bool:
        old = self._old
        return state in old.edges or state in old.calls or state in old.returns

    def _write_head(self, number: int, head: int) -> None:
        self._new.loops[number] = self._old.loops[head]
        if head in self._old.returns:
            self._new.returns.append(number)
        for entry, back in self._old.calls.get(head, ()):
            self._new.calls.append((number, self.state([entry]), self.state([back])))

    def _write(self, number: int, members: _States) -> None:
        old, new = self._old, self._new
        if members & old.returns:
            new.returns.append(number)
        for low, high, targets in _split([e for s in members for e in old.edges.get(s, ())]):
            letters = (low & 0xFF) << 8 | high & 0xFF | (GUARDED if low >= _BYTES else 0)
            target = self.state(targets)
            new.edges.append(number << EDGE_SOURCE | target << EDGE_TARGET | letters)
        backs: dict[int, set[int]] = defaultdict(set)
        for state in sorted(members):
            for entry, back in old.calls.get(state, ()):
                backs[self.state([entry])].add(back)
        new.calls += [(number, entry, self.state(states)) for entry, states in backs.items()]


def _split(edges: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, _States]]:
    """Yield disjoint ranges of letters, each with all states it leads to; neighbours are merged."""
    changes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for low, high, target in edges:
        changes[low].append((target, 1))
        changes[high + 1].append((target, -1))
    counts: dict[int, int] = {}
    first, before = 0, frozenset[int]()
    for place in sorted(changes):
        for target, change in changes[place]:
            counts[target] = counts.get(target, 0) + change
            if not counts[target]:
                del counts[target]
        targets = frozenset(counts)
        if targets != before or place == _BYTES:
            if before:
                yield first, place - 1, before
            first, before = place, targets
