"""Regular expressions with set algebra to character DFAs.

The bridge between `nfa` (which builds everything but And, Not and Divisible) and `dfa` (which knows
only those): operands become DFAs first, and a DFA inside a larger expression is an NFA again.
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.automata.dfa import (
    CharDfa,
    complement,
    determinize,
    divisible,
    intersect,
    lengths,
    minimize,
)
from constrain.automata.nfa import CharSpelling, NfaBuilder
from constrain.limits import Deadline, Limits
from constrain.syntax.charset import CharSet
from constrain.syntax.expr import ANY_CHAR, And, Divisible, Expr, Not, Repeat

__all__ = ["char_dfa", "embedder"]


def embedder(limits: Limits, deadline: Deadline) -> Callable[[Expr], CharDfa]:
    """Return `char_dfa` with its limits bound."""
    return lambda expr: char_dfa(expr, limits, deadline)


def char_dfa(expr: Expr, limits: Limits, deadline: Deadline) -> CharDfa:
    """Return a trimmed DFA of `expr`, which is regular; TypeError when it holds a Ref."""
    deadline.check()
    match expr:
        case And(items):
            return _conjunction(items, limits, deadline)
        case Not(item):
            return complement(char_dfa(item, limits, deadline))
        case Divisible(divisor):
            return divisible(divisor, limits)
        case _:
            return minimize(_from_nfa(expr, limits, deadline))


def _conjunction(items: tuple[Expr, ...], limits: Limits, deadline: Deadline) -> CharDfa:
    """Intersect the smaller automata first; a bound on the length often has no effect left."""
    counts = [item for item in items if isinstance(item, Repeat) and item.item == ANY_CHAR]
    others = [char_dfa(item, limits, deadline) for item in items if item not in counts]
    result: CharDfa | None = None
    for other in sorted(others, key=lambda dfa: len(dfa.table)):
        deadline.check()
        result = other if result is None else minimize(intersect(result, other, limits))
    for count in counts:
        if result is None:
            result = char_dfa(count, limits, deadline)
        elif not _is_within(result, count):
            deadline.check()
            result = minimize(intersect(result, char_dfa(count, limits, deadline), limits))
    assert result is not None, "a conjunction has items"
    return result


def _is_within(dfa: CharDfa, count: Repeat) -> bool:
    """Return whether all texts of `dfa` have a length that `count` allows."""
    if dfa.is_empty():
        return True
    shortest, longest = lengths(dfa)
    if shortest < count.minimum:
        return False
    return count.maximum is None or (longest is not None and longest <= count.maximum)


def _from_nfa(expr: Expr, limits: Limits, deadline: Deadline) -> CharDfa:
    builder: NfaBuilder[CharSet] = NfaBuilder(
        CharSpelling(), embedder(limits, deadline), limits, deadline
    )
    final = builder.state()
    start = builder.build(expr, final)
    return determinize(builder.edges, builder.epsilon, start, final, limits)
