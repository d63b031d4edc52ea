"""Regular expressions with set algebra to character DFAs.

The bridge between `nfa` (which builds everything but And, Not and Divisible) and `dfa` (which knows
only those): operands become DFAs first, and a DFA inside a larger expression is an NFA again.
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.automata.dfa import CharDfa, complement, determinize, divisible, intersect, minimize
from constrain.automata.nfa import CharSpelling, NfaBuilder
from constrain.limits import Deadline, Limits
from constrain.syntax.charset import CharSet
from constrain.syntax.expr import And, Divisible, Expr, Not

__all__ = ["char_dfa", "embedder"]


def embedder(limits: Limits, deadline: Deadline) -> Callable[[Expr], CharDfa]:
    """Return `char_dfa` with its limits bound."""
    return lambda expr: char_dfa(expr, limits, deadline)


def char_dfa(expr: Expr, limits: Limits, deadline: Deadline) -> CharDfa:
    """Return a trimmed DFA of `expr`, which is regular; TypeError when it holds a Ref."""
    deadline.check()
    match expr:
        case And(items):
            dfas = sorted(
                (char_dfa(item, limits, deadline) for item in items), key=lambda d: len(d.table)
            )
            result = dfas[0]
            for other in dfas[1:]:
                deadline.check()
                result = minimize(intersect(result, other, limits))
            return result
        case Not(item):
            return complement(char_dfa(item, limits, deadline))
        case Divisible(divisor):
            return divisible(divisor, limits)
        case _:
            return minimize(_from_nfa(expr, limits, deadline))


def _from_nfa(expr: Expr, limits: Limits, deadline: Deadline) -> CharDfa:
    builder: NfaBuilder[CharSet] = NfaBuilder(
        CharSpelling(), embedder(limits, deadline), limits, deadline
    )
    final = builder.state()
    start = builder.build(expr, final)
    return determinize(builder.edges, builder.epsilon, start, final, limits)
