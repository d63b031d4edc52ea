"""A slow, plain reading of Expr and Grammar: does a text belong? Independent of the automata.

For short texts only. Every node is a set of end positions for a start position, memoised.
"""

from __future__ import annotations

import json
import re
import sys
from fractions import Fraction

from constrain.syntax import expr as e

__all__ = ["accepts", "divides", "matches"]


def accepts(grammar: e.Grammar, text: str) -> bool:
    """Return whether the whole text is in the language of the grammar."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
    return len(text) in _Oracle(text, dict(grammar.rules)).ends(grammar.start, 0)


def matches(expr: e.Expr, text: str) -> bool:
    """Return whether the whole text is in the language of an expression without Ref."""
    return accepts(e.Grammar(expr, {}), text)


class _Oracle:
    def __init__(self, text: str, rules: dict[str, e.Expr]) -> None:
        self.text = text
        self.rules = rules
        self.memo: dict[tuple[int, int], tuple[e.Expr, frozenset[int]]] = {}

    def ends(self, expr: e.Expr, start: int) -> frozenset[int]:
        key = (id(expr), start)
        if key not in self.memo:
            self.memo[key] = (expr, frozenset(self._ends(expr, start)))
        return self.memo[key][1]

    def _ends(self, expr: e.Expr, i: int) -> set[int] | frozenset[int]:
        text = self.text
        match expr:
            case e.Nothing():
                return set()
            case e.Empty():
                return {i}
            case e.Literal(word):
                return {i + len(word)} if text.startswith(word, i) else set()
            case e.Chars(charset):
                return {i + 1} if i < len(text) and ord(text[i]) in charset else set()
            case e.Seq(items):
                at = {i}
                for item in items:
                    at = {k for j in at for k in self.ends(item, j)}
                return at
            case e.Alt(items):
                return {k for item in items for k in self.ends(item, i)}
            case e.And(items):
                return frozenset.intersection(*(self.ends(item, i) for item in items))
            case e.Not(item):
                return set(range(i, len(text) + 1)) - self.ends(item, i)
            case e.Repeat():
                return self._repeat(expr, i)
            case e.Divisible():
                return {j for j in range(i + 1, len(text) + 1) if divides(expr, text[i:j])}
            case e.JsonString(content):
                return self._string(content, i)
            case e.Ref(name):
                return self.ends(self.rules[name], i)
        raise TypeError(expr)

    def _repeat(self, expr: e.Repeat, i: int) -> set[int]:
        at, found, count = {i}, set(), 0
        seen: set[frozenset[int]] = set()
        while at and (expr.maximum is None or count <= expr.maximum):
            if count >= expr.minimum:
                if frozenset(at) in seen:
                    break
                seen.add(frozenset(at))
                found |= at
            at = {k for j in at for k in self.ends(expr.item, j)}
            count += 1
        return found

    def _string(self, content: e.Expr, i: int) -> set[int]:
        try:
            value, end = json.JSONDecoder().raw_decode(self.text, i)
        except ValueError:
            return set()
        if not isinstance(value, str) or self.text[i] != '"':
            return set()
        if self.text[i:end] != json.dumps(value, ensure_ascii=False):
            return set()
        inner = _Oracle(value, self.rules)
        return {end} if len(value) in inner.ends(content, 0) else set()


def divides(expr: e.Divisible, text: str) -> bool:
    """Return whether a text is a number that `expr` divides."""
    shape = r"[0-9]+(\.[0-9]+)?" if expr.places else "[0-9]+"
    if not re.fullmatch(shape, text):
        return False
    units = Fraction(text) * 10**expr.places
    return units.denominator == 1 and units % expr.divisor == 0
