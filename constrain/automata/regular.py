"""Regular expressions with set algebra to character DFAs.

The bridge between `nfa` (which builds everything but And, Not and Divisible) and `dfa` (which knows
only those): operands become DFAs first, and a DFA inside a larger expression is an NFA again.
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.automata.counting import Bounds, split_bounds
from constrain.automata.dfa import (
    DEAD,
    CharDfa,
    complement,
    determinize,
    divisible,
    intersect,
    longest_completions,
    minimize,
    shortest_completions,
)
from constrain.automata.nfa import CharNfa
from constrain.limits import Deadline, Limits
from constrain.syntax.expr import ANY_CHAR, And, Divisible, Expr, Not, Repeat

__all__ = ["char_dfa", "embedder", "is_within"]


def embedder(limits: Limits, deadline: Deadline) -> Callable[[Expr], CharDfa]:
    """Return `char_dfa` with its limits bound."""
    return lambda expr: char_dfa(expr, limits, deadline)


def char_dfa(expr: Expr, limits: Limits, deadline: Deadline) -> CharDfa:
    """Return a trimmed DFA of `expr`, which is regular; TypeError when it holds a Ref."""
    deadline.check()
    match expr:
        case And():
            return _conjunction(expr, limits, deadline)
        case Not(item):
            return complement(char_dfa(item, limits, deadline))
        case Divisible(divisor, places):
            return divisible(divisor, places, limits)
        case _:
            return minimize(_from_nfa(expr, limits, deadline))


def _conjunction(expr: And, limits: Limits, deadline: Deadline) -> CharDfa:
    """Intersect the smaller automata first; a bound on the length often has no effect left."""
    split = split_bounds(expr)
    if split is not None:
        rest, bounds = split
        result = char_dfa(rest, limits, deadline)
        if is_within(result, bounds):
            return result
        count = char_dfa(Repeat(ANY_CHAR, bounds.least, bounds.most), limits, deadline)
        return minimize(intersect(result, count, limits))
    dfas = [char_dfa(item, limits, deadline) for item in expr.items]
    result, *others = sorted(dfas, key=lambda dfa: len(dfa.table))
    for other in others:
        deadline.check()
        result = minimize(intersect(result, other, limits))
    return result


def is_within(dfa: CharDfa, bounds: Bounds) -> bool:
    """Return whether all texts of a trimmed DFA have a length within `bounds`."""
    if dfa.is_empty():
        return True
    longest = longest_completions(dfa)[0]
    if shortest_completions(dfa)[0] < bounds.least:
        return False
    return bounds.most is None or DEAD < longest <= bounds.most


def _from_nfa(expr: Expr, limits: Limits, deadline: Deadline) -> CharDfa:
    builder = CharNfa(embedder(limits, deadline), limits, deadline)
    final = builder.state()
    start = builder.build(expr, final)
    return determinize(builder.edges, builder.epsilon, start, final, limits, deadline)
