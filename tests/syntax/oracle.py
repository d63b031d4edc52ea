"""Membership in the language of a regular Expr, by brute force over all spans of a text."""

from __future__ import annotations

from functools import cache

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


def is_member(expr: Expr, text: str) -> bool:
    """Return whether `text` is in the language of `expr` (no Ref, no JsonString)."""

    @cache
    def ends(node: Expr, start: int) -> frozenset[int]:
        match node:
            case Nothing():
                return frozenset()
            case Empty():
                return frozenset({start})
            case Literal(literal):
                return frozenset({start + len(literal)} if text.startswith(literal, start) else ())
            case Chars(charset):
                inside = start < len(text) and ord(text[start]) in charset
                return frozenset({start + 1} if inside else ())
            case Alt(items):
                return frozenset().union(*(ends(item, start) for item in items))
            case And(items):
                return frozenset.intersection(*(ends(item, start) for item in items))
            case Not(item):
                return frozenset(range(start, len(text) + 1)) - ends(item, start)
            case Seq(items):
                places = frozenset({start})
                for item in items:
                    places = frozenset(e for p in places for e in ends(item, p))
                return places
            case Repeat(item, minimum, maximum):
                return repeated(item, minimum, maximum, start)
        raise AssertionError(node)

    def repeated(item: Expr, minimum: int, maximum: int | None, start: int) -> frozenset[int]:
        places, found, seen = frozenset({start}), frozenset[int](), set()
        rounds = 0
        while places and (maximum is None or rounds <= maximum):
            if rounds >= minimum:
                if places <= found and places in seen:
                    break
                found |= places
                seen.add(places)
            places = frozenset(e for p in places for e in ends(item, p))
            rounds += 1
        return found

    return len(text) in ends(expr, 0)
