"""Which terminals may come right after each other in the texts of a grammar."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from constrain.syntax.expr import Alt, Expr, Grammar, Ref, Repeat, Seq, alt, repeat, seq
from constrain.syntax.rules import corners, may_be_empty, nullable_rules

__all__ = ["START", "Neighbours", "rewritten"]

START = "\0start"
"""Stands before the first terminal of a text."""

_Write = Callable[[str, frozenset[str]], Expr]


@dataclass(frozen=True)
class Neighbours:
    """What each rule may begin and end with, and what may stand before it: names of terminals."""

    first: Mapping[str, frozenset[str]]
    last: Mapping[str, frozenset[str]]
    before: Mapping[str, frozenset[str]]
    empty: frozenset[str]

    @staticmethod
    def of(grammar: Grammar, terminals: Collection[str]) -> Neighbours:
        """Find the neighbours in a grammar over `terminals`, which are not rules of it."""
        rules = grammar.rules
        empty = nullable_rules({**rules, **dict.fromkeys(terminals, Ref("\0"))})
        first = _reached(rules, empty, terminals, last=False)
        last = _reached(rules, empty, terminals, last=True)
        before: dict[str, frozenset[str]] = {}
        found = Neighbours(first, last, before, empty)
        work: list[tuple[Expr, frozenset[str]]] = [(grammar.start, frozenset([START]))]
        while work:
            walk = _Walk(found, terminals)
            walk.walk(*work.pop())
            for name, names in walk.before.items():
                if not names <= before.get(name, frozenset()) or name not in before:
                    before[name] = before.get(name, frozenset()) | names
                    work.append((rules[name], before[name]))
        return found


def rewritten(
    grammar: Grammar, neighbours: Neighbours, terminals: Collection[str], write: _Write
) -> Grammar:
    """Return the grammar with `write(terminal, what may stand before it)` for each terminal."""
    walk = _Walk(neighbours, terminals, write)
    start, _ = walk.walk(grammar.start, frozenset([START]))
    before = neighbours.before
    reached = {name: body for name, body in grammar.rules.items() if name in before}
    return Grammar(start, {n: walk.walk(body, before[n])[0] for n, body in reached.items()})


class _Walk:
    """Walks an expression with what may stand before each part of it."""

    def __init__(
        self,
        neighbours: Neighbours,
        terminals: Collection[str],
        write: _Write = lambda name, _: Ref(name),
    ) -> None:
        self.before: dict[str, frozenset[str]] = {}
        self._known = neighbours
        self._terminals = terminals
        self._write = write

    def walk(self, expr: Expr, before: frozenset[str]) -> tuple[Expr, frozenset[str]]:
        """Return (the expression written anew, what may stand before what follows it)."""
        match expr:
            case Ref(name) if name in self._terminals:
                return self._write(name, before), frozenset([name])
            case Ref(name):
                self.before[name] = self.before.get(name, frozenset()) | before
                passed = before if name in self._known.empty else frozenset()
                return expr, self._known.last[name] | passed
            case Seq(items):
                parts: list[Expr] = []
                for item in items:
                    part, before = self.walk(item, before)
                    parts.append(part)
                return seq(*parts), before
            case Alt(items):
                pairs = [self.walk(item, before) for item in items]
                after = frozenset[str]().union(*(names for _, names in pairs))
                return alt(*(part for part, _ in pairs)), after
            case Repeat(item, minimum, maximum):
                ends = self._ends(item) if maximum is None or maximum > 1 else frozenset()
                part, after = self.walk(item, before | ends)
                passes = minimum == 0 or may_be_empty(item, self._known.empty)
                return repeat(part, minimum, maximum), after | before if passes else after
            case _:
                return expr, before

    def _ends(self, expr: Expr) -> frozenset[str]:
        names = corners(expr, self._known.empty, last=True)
        return frozenset(end for n in names for end in self._known.last.get(n, (n,)))


def _reached(
    rules: Mapping[str, Expr], empty: frozenset[str], terminals: Collection[str], *, last: bool
) -> dict[str, frozenset[str]]:
    """Return for each rule the terminals it may begin or, with `last`, end with."""
    graph = {name: corners(body, empty, last=last) for name, body in rules.items()}
    found: dict[str, frozenset[str]] = {}
    for name in graph:
        seen, work = {name}, [name]
        while work:
            targets = graph.get(work.pop(), set()) - seen
            seen |= targets
            work.extend(targets)
        found[name] = frozenset(seen) & frozenset(terminals)
    return found
