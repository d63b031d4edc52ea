"""All short texts of a Grammar, by the meaning of each node: an oracle that any recursion suits.

The languages of all rules, cut at a length, grow together from nothing until they stop. For tiny
alphabets and lengths only; knows no automata and no parsing.
"""

from __future__ import annotations

from collections.abc import Mapping

from constrain.syntax import expr as e

__all__ = ["short_texts"]

_Languages = dict[str, frozenset[str]]


def short_texts(grammar: e.Grammar, longest: int) -> frozenset[str]:
    """Return the texts of the grammar that have at most `longest` characters."""
    known: _Languages = dict.fromkeys(grammar.rules, frozenset())
    while True:
        grown = {name: _texts(body, known, longest) for name, body in grammar.rules.items()}
        if grown == known:
            return _texts(grammar.start, known, longest)
        known = grown


def _texts(expr: e.Expr, known: Mapping[str, frozenset[str]], longest: int) -> frozenset[str]:
    match expr:
        case e.Empty():
            return frozenset({""})
        case e.Nothing():
            return frozenset()
        case e.Literal(text):
            return frozenset({text}) if len(text) <= longest else frozenset()
        case e.Chars(charset):
            return frozenset(chr(c) for low, high in charset.ranges for c in range(low, high + 1))
        case e.Ref(name):
            return known[name]
        case e.Alt(items):
            return frozenset().union(*(_texts(item, known, longest) for item in items))
        case e.Seq(items):
            found = frozenset({""})
            for item in items:
                found = _joined(found, _texts(item, known, longest), longest)
            return found
        case e.Repeat(item, minimum, maximum):
            return _repeated(_texts(item, known, longest), minimum, maximum, longest)
    raise TypeError(expr)


def _joined(left: frozenset[str], right: frozenset[str], longest: int) -> frozenset[str]:
    return frozenset(a + b for a in left for b in right if len(a) + len(b) <= longest)


def _repeated(
    item: frozenset[str], minimum: int, maximum: int | None, longest: int
) -> frozenset[str]:
    found, exactly = set(), frozenset({""})
    least = 0 if "" in item else minimum
    most = least + longest + 1 if maximum is None else min(maximum, least + longest + 1)
    for count in range(most + 1):
        if count >= least:
            found |= exactly
        exactly = _joined(exactly, item, longest)
    return frozenset(found)
