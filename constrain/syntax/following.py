"""Which terminals may come right after each other in the texts of a grammar."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from constrain.syntax.expr import Alt, Expr, Grammar, Ref, Repeat, Seq
from constrain.syntax.rules import corners, may_be_empty, nullable_rules

__all__ = ["following_terminals"]


def following_terminals(grammar: Grammar, terminals: Collection[str]) -> dict[str, set[str]]:
    """Return for each of `terminals`, which are not rules, those that may follow it."""
    rules = grammar.rules
    empty = nullable_rules({**rules, **dict.fromkeys(terminals, _A_TEXT)})
    first = _reached({n: corners(body, empty, last=False) for n, body in rules.items()})
    last = _reached({n: corners(body, empty, last=True) for n, body in rules.items()})
    found: dict[str, set[str]] = {name: set() for name in terminals}
    pairs = {p for body in (*rules.values(), grammar.start) for p in _neighbours(body, empty)}
    for left, right in pairs:
        starts = first.get(right, {right}) & found.keys()
        for name in last.get(left, {left}) & found.keys():
            found[name] |= starts
    return found


def _neighbours(expr: Expr, empty: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the names in `expr` that may stand next to each other."""
    match expr:
        case Seq(items):
            ends: set[str] = set()
            for item in items:
                yield from _neighbours(item, empty)
                starts = corners(item, empty, last=False)
                yield from ((end, start) for end in ends for start in starts)
                own = corners(item, empty, last=True)
                ends = ends | own if may_be_empty(item, empty) else own
        case Alt(items):
            for item in items:
                yield from _neighbours(item, empty)
        case Repeat(item, _, _):
            yield from _neighbours(item, empty)
            starts = corners(item, empty, last=False)
            yield from ((end, s) for end in corners(item, empty, last=True) for s in starts)
        case _:
            pass


def _reached(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return for each name all that can be reached from it, itself included."""
    found: dict[str, set[str]] = {}
    for name in graph:
        seen, work = {name}, [name]
        while work:
            targets = graph.get(work.pop(), set()) - seen
            seen |= targets
            work.extend(targets)
        found[name] = seen
    return found


_A_TEXT = Ref("\0")
"""Stands for the texts of a terminal, which are never empty."""
