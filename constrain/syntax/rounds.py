"""A Grammar to one in which no round of a repetition over rules is empty.

A matcher counts the rounds of a long repetition, and an empty one would be counted without a byte
read. So `(a | "")~20`, `a` a rule, becomes zero to 20 texts of `a` that are not empty. Rounds
without rules stay: they are regular, and set algebra takes the empty text from them.
"""

from __future__ import annotations

from collections.abc import Mapping

from constrain.syntax.expr import (
    EMPTY,
    NOTHING,
    Alt,
    And,
    Empty,
    Expr,
    Grammar,
    Not,
    Ref,
    Repeat,
    Seq,
    alt,
    complement,
    conjunction,
    repeat,
    seq,
)
from constrain.syntax.languages import nullable
from constrain.syntax.rules import may_be_empty, nullable_rules, references

__all__ = ["without_empty_rounds"]


def without_empty_rounds(grammar: Grammar) -> Grammar:
    """Return a grammar of the same language; every name that `grammar` refers to must be a rule."""
    return _Rounds(grammar.rules).run(grammar.start)


class _Rounds:
    def __init__(self, rules: Mapping[str, Expr]) -> None:
        self._old = rules
        self._empty = nullable_rules(rules)
        self._asked: dict[str, str] = {}  # names of the rules without their empty text: of which

    def run(self, start: Expr) -> Grammar:
        start = self._rewritten(start)
        rules = {name: self._rewritten(body) for name, body in self._old.items()}
        done: set[str] = set()
        while waiting := self._asked.keys() - done:
            for name in sorted(waiting):
                rules[name] = self._nonempty(rules[self._asked[name]])
                done.add(name)
        return Grammar(start, rules)

    def _rewritten(self, expr: Expr) -> Expr:
        match expr:
            case Seq(items):
                return seq(*map(self._rewritten, items))
            case Alt(items):
                return alt(*map(self._rewritten, items))
            case Repeat(item, minimum, maximum):
                inner = self._rewritten(item)
                if may_be_empty(item, self._empty) and any(references(item)):
                    return repeat(self._nonempty(inner), 0, maximum)
                return repeat(inner, minimum, maximum)
            case _:
                return expr

    def _nonempty(self, expr: Expr) -> Expr:
        """Return the texts of `expr`, which is rewritten, but the empty one."""
        if not may_be_empty(expr, self._empty):
            return expr
        match expr:
            case Empty():
                return NOTHING
            case Ref(name):
                own = f"{name}\0nonempty round"
                self._asked[own] = name
                return Ref(own)
            case Alt(items):
                return alt(*map(self._nonempty, items))
            case Seq(items):
                rests = (seq(*items[i + 1 :]) for i in range(len(items)))
                return alt(
                    *(seq(self._nonempty(i), rest) for i, rest in zip(items, rests, strict=True))
                )
            case Repeat(item, minimum, maximum):
                least = 0 if may_be_empty(item, self._empty) else max(minimum - 1, 0)
                again = repeat(item, least, None if maximum is None else maximum - 1)
                return seq(self._nonempty(item), again)
            case And() | Not() if nullable(expr):
                return conjunction((expr, complement(EMPTY)))
            case _:
                return expr
