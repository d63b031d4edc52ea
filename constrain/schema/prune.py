"""Removing what can never end: rules without a text, and every way that needs one.

Takes a Grammar; gives the Grammar with the same language in which every rule has a text (as far as
shape tells; `And` and `Not` are taken to have one). So a property that no value fits is never
begun, and a schema that needs itself for ever is recognised: its start becomes `NOTHING`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from constrain.syntax.expr import (
    NOTHING,
    Alt,
    And,
    Expr,
    Grammar,
    JsonString,
    Not,
    Nothing,
    Ref,
    Repeat,
    Seq,
    alt,
    names,
    repeat,
    seq,
)

__all__ = ["ending_rules", "ends", "productive"]


def productive(grammar: Grammar) -> Grammar:
    """Return the grammar without rules, alternatives and repetitions that have no text."""
    ending = ending_rules(grammar)
    if len(ending) == len(grammar.rules):
        return Grammar(grammar.start, _reachable(grammar.start, dict(grammar.rules)))
    start = _kept(grammar.start, ending)
    rules = {name: _kept(expr, ending) for name, expr in grammar.rules.items() if name in ending}
    return Grammar(start, _reachable(start, rules))


def _never(expr: Expr) -> bool:
    """Take set algebra to have a text: only an automaton would tell."""
    del expr
    return False


def ending_rules(grammar: Grammar, is_empty: Callable[[Expr], bool] = _never) -> frozenset[str]:
    """Return the rules that have a text: the least fixed point, by a worklist.

    `is_empty` is asked about strings and set algebra.
    """
    callers: dict[str, set[str]] = defaultdict(set)
    for name, expr in grammar.rules.items():
        for called in names(expr):
            callers[called].add(name)
    ending: set[str] = set()
    todo = list(grammar.rules)
    while todo:
        name = todo.pop()
        if name not in ending and ends(grammar.rules[name], ending, is_empty):
            ending.add(name)
            todo.extend(callers[name])
    return frozenset(ending)


def ends(
    expr: Expr, ending: set[str] | frozenset[str], is_empty: Callable[[Expr], bool] = _never
) -> bool:
    """Return whether an expression has a text, given the rules that have one."""
    match expr:
        case Nothing():
            return False
        case Ref(name):
            return name in ending
        case Seq(items):
            return all(ends(item, ending, is_empty) for item in items)
        case Alt(items):
            return any(ends(item, ending, is_empty) for item in items)
        case Repeat(item, minimum, _):
            return minimum == 0 or ends(item, ending, is_empty)
        case JsonString() | And() | Not():
            return not is_empty(expr)
    return True


def _kept(expr: Expr, ending: frozenset[str]) -> Expr:
    match expr:
        case Ref(name):
            return expr if name in ending else NOTHING
        case Seq(items):
            return seq(*(_kept(item, ending) for item in items))
        case Alt(items):
            return alt(*(_kept(item, ending) for item in items))
        case Repeat(item, minimum, maximum):
            return repeat(_kept(item, ending), minimum, maximum)
    return expr


def _reachable(start: Expr, rules: dict[str, Expr]) -> dict[str, Expr]:
    found: dict[str, Expr] = {}
    todo = list(names(start))
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = rules[name]
            todo.extend(names(rules[name]))
    return {name: expr for name, expr in rules.items() if name in found}
