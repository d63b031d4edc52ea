"""A Grammar to one with fewer rules: what is used once, or short, stands where it is used.

A matcher sees that two alternatives begin alike only inside one rule (see automata.joined); after
`atom: group | tuple` is one rule, `"(" e` is read once. Rules that break every circle stay,
and so does what would make the grammar much larger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from constrain.syntax.expr import Alt, Chars, Expr, Grammar, Ref, Repeat, Seq, alt, repeat, seq
from constrain.syntax.rules import circle_cuts, reachable_rules, references

__all__ = ["with_fewer_rules"]

_Build = Callable[..., Expr]
_SHORT = 40
_DEEPEST = 25


def with_fewer_rules(grammar: Grammar) -> Grammar:
    """Return a grammar of the same language; rules that nothing calls are dropped."""
    reached = reachable_rules(references(grammar.start), grammar.rules)
    rules = {name: body for name, body in grammar.rules.items() if name in reached}
    return _Inlining(rules, grammar.start).run()


class _Inlining:
    def __init__(self, rules: Mapping[str, Expr], start: Expr) -> None:
        self._old = rules
        self._start = start
        graph = {name: list(references(body)) for name, body in rules.items()}
        self._uses = Counter(references(start))
        for names in graph.values():
            self._uses.update(names)
        self._kept = circle_cuts({"\0": list(references(start))} | graph)
        self._done: dict[str, tuple[Expr, int, int]] = {}

    def run(self) -> Grammar:
        start, _, _ = self._expanded(self._start)
        rules: dict[str, Expr] = {}
        work = list(references(start))
        while work:
            name = work.pop()
            if name not in rules:
                rules[name] = self._rule(name)[0]
                work.extend(references(rules[name]))
        return Grammar(start, rules)

    def _rule(self, name: str) -> tuple[Expr, int, int]:
        known = self._done.get(name)
        if known is None:
            known = self._done[name] = self._expanded(self._old[name])
        return known

    def _expanded(self, expr: Expr) -> tuple[Expr, int, int]:
        """Return (`expr` with rules put in their places, its size, rules inside rules)."""
        match expr:
            case Ref(name):
                if name in self._kept:
                    return expr, 1, 0
                body, size, depth = self._rule(name)
                fits = self._uses[name] == 1 or size <= _SHORT
                return (body, size, depth + 1) if fits and depth < _DEEPEST else (expr, 1, 0)
            case Seq(items):
                return self._combined(seq, items)
            case Alt(items):
                return self._combined(alt, items)
            case Repeat(item, minimum, maximum):
                body, size, depth = self._expanded(item)
                return repeat(body, minimum, maximum), size + 1, depth
            case Chars(charset):
                return expr, len(charset.ranges), 0
            case _:
                return expr, 1, 0

    def _combined(self, build: _Build, items: tuple[Expr, ...]) -> tuple[Expr, int, int]:
        parts = [self._expanded(item) for item in items]
        size = 1 + sum(part[1] for part in parts)
        return build(*(part[0] for part in parts)), size, max(part[2] for part in parts)
