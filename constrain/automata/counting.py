"""Bounds on the length of a string, kept as a count instead of multiplied into its automaton.

The texts of a DFA that have `least` to `most` characters are those of a product with a chain of
`most + 1` states; a pattern with `maxLength: 1024` would take a thousand copies of itself. Instead
the matcher counts characters beside the DFA's state. For that it must know, at every state, which
counts can still end well. Below a greatest length alone that is the shortest completion's business.
Beside a least length too it is simple where the lengths of the completions of each state form an
interval. Where they do not (`(abc)*` from 5 on), there is no plan: take the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from constrain.automata.dfa import DEAD, CharDfa, longest_completions, shortest_completions
from constrain.syntax.expr import ANY_CHAR, And, Expr, Repeat, conjunction

__all__ = ["Bounds", "CountedState", "plan", "split_bounds"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """From `least` to `most` characters; no `most`: any number from `least`."""

    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class CountedState:
    """Counts (both inclusive) with which a state can still end well; `shortest` way to its end.

    A `high` below zero: no text through this state is short enough.
    """

    low: int
    high: int | None
    shortest: int

    def is_possible_with(self, count: int) -> bool:
        """Return whether a text that is here after `count` characters can end well."""
        return self.low <= count and (self.high is None or count <= self.high)


def split_bounds(expr: And) -> tuple[Expr, Bounds] | None:
    """Return the items that are no bound on the length, and the bounds; None without either."""
    counts = [i for i in expr.items if isinstance(i, Repeat) and i.item == ANY_CHAR]
    others = [item for item in expr.items if item not in counts]
    if not counts or not others:
        return None
    most = min((c.maximum for c in counts if c.maximum is not None), default=None)
    return conjunction(others), Bounds(max(c.minimum for c in counts), most)


def plan(dfa: CharDfa, bounds: Bounds) -> list[CountedState] | None:
    """Return what each state of a trimmed DFA allows; None when a least length meets gaps.

    By induction on the length: if for each state the intervals of its successors, moved by one, and
    0 where it accepts, together make an interval, then every length in it is attained.
    """
    shortest, longest = shortest_completions(dfa), longest_completions(dfa)
    if bounds.least > shortest[0] and not all(
        _is_interval(dfa, state, shortest, longest) for state in range(len(dfa.table))
    ):
        return None
    states = []
    for short, long in zip(shortest, longest, strict=True):
        low = 0 if long == DEAD else max(0, bounds.least - long)
        high = None if bounds.most is None else bounds.most - short
        states.append(CountedState(low, high, short))
    return states


def _is_interval(dfa: CharDfa, state: int, shortest: Sequence[int], longest: Sequence[int]) -> bool:
    spans = [(shortest[t] + 1, longest[t]) for t in {*dfa.table[state]} - {DEAD}]
    reach = 0 if dfa.accepting[state] else shortest[state] - 1
    for first, last in sorted(spans):
        if first > reach + 1:
            return False
        if last == DEAD:
            return True
        reach = max(reach, last + 1)
    return True
