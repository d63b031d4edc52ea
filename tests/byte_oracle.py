"""Brute force over Expr: which byte strings are in a language, and which are prefixes of one.

Written from the meaning of each node alone, without automata, so that it can prove them. Takes
small expressions and short texts; grammars must not be left-recursive. `And`, `Not` and `Divisible`
are members-only, and so are large character sets (a prefix of an intersection needs an automaton).
"""

from __future__ import annotations

import json
from functools import cache

from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    Alt,
    And,
    Chars,
    Divisible,
    Empty,
    Expr,
    Grammar,
    JsonString,
    Literal,
    Not,
    Nothing,
    Ref,
    Repeat,
    Seq,
)
from tests.expr_oracle import divides

Outcome = tuple[frozenset[int], bool]
"""Where a member can end, and whether the rest of the data is a prefix of a member."""


class ByteOracle:
    """Answers for one grammar and many texts."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar

    def contains(self, data: bytes) -> bool:
        """Return whether `data` is a whole text of the grammar."""
        return (
            len(data) in _Run(self.grammar, data).match(self.grammar.start, 0, json_text=False)[0]
        )

    def is_prefix(self, data: bytes) -> bool:
        """Return whether some text of the grammar begins with `data`."""
        ends, partial = _Run(self.grammar, data).match(self.grammar.start, 0, json_text=False)
        return partial or len(data) in ends


class _Run:
    def __init__(self, grammar: Grammar, data: bytes) -> None:
        self.rules = grammar.rules
        self.data = data
        self.match = cache(self._match)

    def _match(self, expr: Expr, at: int, *, json_text: bool) -> Outcome:
        match expr:
            case Nothing():
                return frozenset(), False
            case Empty():
                return frozenset({at}), at == len(self.data)
            case Not() | Divisible():
                return frozenset(self._set_algebra(expr, at, json_text=json_text)), False
            case Literal(text):
                return self._sequence(tuple(_one(c) for c in text), at, json_text=json_text)
            case Chars(charset):
                return self._chars(charset, at, json_text=json_text)
            case Seq(items):
                return self._sequence(items, at, json_text=json_text)
            case Alt(items):
                outcomes = [self.match(item, at, json_text=json_text) for item in items]
                return frozenset().union(*(e for e, _ in outcomes)), any(p for _, p in outcomes)
            case Repeat(item, minimum, maximum):
                return self._repeat(item, minimum, maximum, at, json_text=json_text)
            case And(items):
                sets = [self.match(item, at, json_text=json_text)[0] for item in items]
                return frozenset.intersection(*sets), False
            case JsonString(content):
                return self._json_string(content, at)
            case Ref(name):
                return self.match(self.rules[name], at, json_text=json_text)

    def _set_algebra(self, expr: Not | Divisible, at: int, *, json_text: bool) -> set[int]:
        places = range(at, len(self.data) + 1)
        if isinstance(expr, Not):
            excluded = self.match(expr.item, at, json_text=json_text)[0]
            return {j for j in places if _is_text(self.data[at:j]) and j not in excluded}
        return {j for j in places if divides(expr, self.data[at:j].decode("latin-1"))}

    def _sequence(self, items: tuple[Expr, ...], at: int, *, json_text: bool) -> Outcome:
        starts, partial = frozenset({at}), False
        for item in items:
            following: set[int] = set()
            for start in starts:
                ends, unfinished = self.match(item, start, json_text=json_text)
                following |= ends
                partial = partial or unfinished
            starts = frozenset(following)
        return starts, partial

    def _repeat(
        self, item: Expr, minimum: int, maximum: int | None, at: int, *, json_text: bool
    ) -> Outcome:
        ends: set[int] = set()
        partial = False
        starts, count = frozenset({at}), 0
        seen: set[tuple[int, frozenset[int]]] = set()
        while starts and (min(count, minimum), starts) not in seen:
            seen.add((min(count, minimum), starts))
            if count >= minimum:
                ends |= starts
                partial = partial or len(self.data) in starts
            if maximum is not None and count == maximum:
                break
            following, unfinished = self._sequence_from(starts, item, json_text=json_text)
            partial = partial or unfinished
            starts, count = following, count + 1
        return frozenset(ends), partial

    def _sequence_from(self, starts: frozenset[int], item: Expr, *, json_text: bool) -> Outcome:
        outcomes = [self.match(item, start, json_text=json_text) for start in starts]
        return frozenset().union(*(e for e, _ in outcomes)), any(p for _, p in outcomes)

    def _chars(self, charset: CharSet, at: int, *, json_text: bool) -> Outcome:
        if charset.size() >= 2000:
            return self._decoded(charset, at, json_text=json_text), False
        ends, partial = set(), False
        for spelling in _spellings(charset, json_text=json_text):
            if self.data.startswith(spelling, at):
                ends.add(at + len(spelling))
            elif spelling.startswith(self.data[at:]):
                partial = True
        return frozenset(ends), partial or at == len(self.data)

    def _decoded(self, charset: CharSet, at: int, *, json_text: bool) -> frozenset[int]:
        """Return the ends of one character of a set too large to enumerate: members only."""
        assert not json_text, "only plain text is decoded"
        pieces = {j: self.data[at:j] for j in range(at + 1, min(at + 4, len(self.data)) + 1)}
        texts = {j: piece.decode() for j, piece in pieces.items() if _is_text(piece)}
        return frozenset(j for j, t in texts.items() if len(t) == 1 and ord(t) in charset)

    def _json_string(self, content: Expr, at: int) -> Outcome:
        ends, partial = set(), at == len(self.data)
        if self.data.startswith(b'"', at):
            inner, unfinished = self.match(content, at + 1, json_text=True)
            partial = unfinished or len(self.data) in inner
            ends = {j + 1 for j in inner if self.data.startswith(b'"', j)}
        return frozenset(ends), partial


def _one(char: str) -> Expr:
    return Chars(CharSet(((ord(char), ord(char)),)))


@cache
def _spellings(charset: CharSet, *, json_text: bool) -> tuple[bytes, ...]:
    assert charset.size() < 2000, "the oracle enumerates: keep sets small"
    chars = [chr(c) for low, high in charset.ranges for c in range(low, high + 1)]
    if not json_text:
        return tuple(c.encode() for c in chars)
    spelled = {json.dumps(c, ensure_ascii=False)[1:-1] for c in chars}
    upper = {s[:2] + s[2:].upper() for s in spelled if s.startswith("\\u")}
    return tuple(s.encode() for s in sorted(spelled | upper))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
