"""Does one given text belong to a regular expression? For constants, property names and enums.

Takes an Expr without Ref and a text; gives a bool. It walks the expression over the text directly
and builds no automaton: a schema asks about a few short texts, not about a language.
"""

from __future__ import annotations

from functools import lru_cache

from constrain.syntax.expr import (
    Alt,
    And,
    Chars,
    Empty,
    Expr,
    Literal,
    Not,
    Nothing,
    Repeat,
    Seq,
)

__all__ = ["contains"]


@lru_cache(maxsize=20_000)
def contains(expr: Expr, text: str) -> bool:
    """Return whether the whole `text` is in the language of `expr`, which is regular."""
    return len(text) in _Walk(text).ends(expr, frozenset({0}))


class _Walk:
    """Sets of end positions, for the sets of start positions they are reached from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.positions = frozenset(range(len(text) + 1))

    def ends(self, expr: Expr, starts: frozenset[int]) -> frozenset[int]:
        """Return where matches of `expr` end that begin at any of `starts`."""
        match expr:
            case Empty():
                return starts
            case Nothing():
                return frozenset()
            case Literal(text):
                return frozenset(i + len(text) for i in starts if self.text.startswith(text, i))
            case Chars(charset):
                end = len(self.text)
                return frozenset(i + 1 for i in starts if i < end and ord(self.text[i]) in charset)
            case Seq(items):
                for item in items:
                    starts = self.ends(item, starts)
                return starts
            case Alt(items):
                return frozenset().union(*(self.ends(item, starts) for item in items))
            case Repeat():
                return self._repeated(expr, starts)
            case And() | Not():
                return frozenset().union(*(self._algebra(expr, i) for i in starts))
        message = f"not a regular expression: {type(expr).__name__}"
        raise TypeError(message)

    def _algebra(self, expr: And | Not, start: int) -> frozenset[int]:
        one = frozenset({start})
        if isinstance(expr, Not):
            later = frozenset(i for i in self.positions if i >= start)
            return later - self.ends(expr.item, one)
        found = self.positions
        for item in expr.items:
            found &= self.ends(item, one)
        return found

    def _repeated(self, expr: Repeat, starts: frozenset[int]) -> frozenset[int]:
        if expr.maximum is None and isinstance(expr.item, Chars):
            return self._run(expr, starts)
        at, found, count = starts, frozenset[int](), 0
        while at and (expr.maximum is None or count < expr.maximum):
            if count >= expr.minimum:
                if at <= found:
                    return found
                found |= at
            following = self.ends(expr.item, at)
            count = expr.minimum if following == at and count < expr.minimum else count + 1
            at = following
        return found | at if count >= expr.minimum else found

    def _run(self, expr: Repeat, starts: frozenset[int]) -> frozenset[int]:
        found = set[int]()
        for start in starts:
            i = start
            while i - start < expr.minimum or i not in found:
                if i - start >= expr.minimum:
                    found.add(i)
                if not self.ends(expr.item, frozenset({i})):
                    break
                i += 1
        return frozenset(found)
