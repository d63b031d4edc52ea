"""Boolean functions of numbered facts, each kept once: a reduced ordered binary decision diagram.

Takes facts by number; gives functions as integers, equal exactly when the functions are equal.
`given` tells what is left of a function when a fact becomes known, and `ways` how it can hold.
Knows nothing of what the facts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["FALSE", "TRUE", "Decisions", "TooManyStates"]

FALSE, TRUE = 0, 1
_MAX_NODES = 30_000


class TooManyStates(Exception):
    """A function that would take more nodes, or more states, than are kept."""


class Decisions:
    """Functions that share their nodes; a node is (fact, function if false, function if true)."""

    def __init__(self) -> None:
        """Begin with the two constant functions."""
        last = 1 << 62
        self._nodes: list[tuple[int, int, int]] = [(last, FALSE, FALSE), (last, TRUE, TRUE)]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._both: dict[tuple[int, int], int] = {}
        self._negated: dict[int, int] = {FALSE: TRUE, TRUE: FALSE}
        self._given: dict[tuple[int, int, bool], int] = {}
        self._facts: dict[int, frozenset[int]] = {FALSE: frozenset(), TRUE: frozenset()}

    def fact(self, number: int) -> int:
        """Return the function that holds when the fact does."""
        return self._node(number, FALSE, TRUE)

    def negated(self, function: int) -> int:
        """Return the function that holds when this one does not."""
        found = self._negated.get(function)
        if found is None:
            fact, low, high = self._nodes[function]
            found = self._node(fact, self.negated(low), self.negated(high))
            self._negated[function] = found
        return found

    def all(self, functions: Iterable[int]) -> int:
        """Return the function that holds when all do."""
        found = TRUE
        for function in functions:
            found = self._met(found, function)
        return found

    def _met(self, left: int, right: int) -> int:
        if left > right:
            left, right = right, left
        if left in (FALSE, right):
            return left
        if left == TRUE:
            return right
        found = self._both.get((left, right))
        if found is None:
            fact = min(self._nodes[left][0], self._nodes[right][0])
            low_a, high_a = self._branches(left, fact)
            low_b, high_b = self._branches(right, fact)
            found = self._node(fact, self._met(low_a, low_b), self._met(high_a, high_b))
            self._both[left, right] = found
        return found

    def given(self, function: int, fact: int, *, holds: bool) -> int:
        """Return what is left of a function when it is known whether a fact holds."""
        first, low, high = self._nodes[function]
        if first > fact:
            return function
        if first == fact:
            return high if holds else low
        key = function, fact, holds
        found = self._given.get(key)
        if found is None:
            low, high = self.given(low, fact, holds=holds), self.given(high, fact, holds=holds)
            found = self._given[key] = self._node(first, low, high)
        return found

    def facts(self, function: int) -> frozenset[int]:
        """Return the facts that a function depends on."""
        found = self._facts.get(function)
        if found is None:
            fact, low, high = self._nodes[function]
            found = self._facts[function] = self.facts(low) | self.facts(high) | {fact}
        return found

    def ways(self, function: int) -> Iterator[dict[int, bool]]:
        """Give which facts hold and which do not, for every way to fulfil the function."""
        if function == TRUE:
            yield {}
        elif function != FALSE:
            fact, low, high = self._nodes[function]
            yield from ({fact: False, **way} for way in self.ways(low))
            yield from ({fact: True, **way} for way in self.ways(high))

    def _branches(self, function: int, fact: int) -> tuple[int, int]:
        first, low, high = self._nodes[function]
        return (low, high) if first == fact else (function, function)

    def _node(self, fact: int, low: int, high: int) -> int:
        if low == high:
            return low
        key = fact, low, high
        found = self._numbers.get(key)
        if found is None:
            if len(self._nodes) >= _MAX_NODES:
                raise TooManyStates
            found = self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
        return found
