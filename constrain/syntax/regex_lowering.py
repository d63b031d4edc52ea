"""Regex tree to Expr, assertions included.

A part of a pattern denotes `Piece`s (see `regex_pieces`), built from the right end of the pattern
to the left: `_through(node, then)` puts a node before what follows it. As long as what follows
reaches the end of the text, a lookahead is a plain intersection. A part without assertions is one
Expr and costs nothing extra.

Rejected: an automaton for each assertion (the front ends know no automata), and dropping
assertions (the language would be too wide). What grows too large is refused at its column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NoReturn

from constrain.errors import RegexError
from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    ANY_TEXT,
    EMPTY,
    NOTHING,
    Chars,
    Expr,
    Literal,
    alt,
    complement,
    repeat,
    seq,
)
from constrain.syntax.languages import TooManySplits, bounded_size, nullable
from constrain.syntax.regex_loops import starred
from constrain.syntax.regex_pieces import (
    FREE,
    Condition,
    Piece,
    asserted,
    failing,
    joined,
    prefixed,
)
from constrain.syntax.regex_tree import (
    Boundary,
    Concat,
    Edge,
    Either,
    Leaf,
    Look,
    Loop,
    Node,
)

__all__ = ["lower_search", "lower_whole"]

_MAX_UNROLLED = 64
_WHOLE = Piece(ANY_TEXT, EMPTY, EMPTY)  # nothing follows: the text ends here
_REST = Piece(ANY_TEXT, ANY_TEXT, EMPTY)  # anything follows, up to the end of the text


def lower_whole(tree: Node, pattern: str) -> Expr:
    """Return the language of the texts that `tree` matches from end to end."""
    pieces = _Lowering(pattern).pieces(tree, (_WHOLE,))
    return alt(*(piece.body for piece in pieces if nullable(piece.before)))


def lower_search(tree: Node, pattern: str) -> Expr:
    """Return the language of the texts that hold a match of `tree`."""
    pieces = _Lowering(pattern).pieces(tree, (_REST,))
    return alt(*(seq(piece.before, piece.body) for piece in pieces))


class _Lowering:
    """The lowering of one pattern; keeps which nodes assert nothing."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._plain: dict[int, Expr | None] = {}

    def pieces(self, tree: Node, then: tuple[Piece, ...]) -> tuple[Piece, ...]:
        try:
            return self._through(tree, then)
        except TooManySplits:
            remedy = "simplify the assertions ('^', '$', \\b, lookaround), or check it afterwards"
            self._fail("its assertions interact in too many ways", 0, remedy)

    def _through(self, node: Node, then: Sequence[Piece]) -> tuple[Piece, ...]:
        expr = self._expr(node)
        if expr is not None:
            return joined(found for piece in then for found in prefixed(expr, piece))
        match node:
            case Concat(items):
                return self._concat(items, tuple(then))
            case Either(items):
                return joined(piece for item in items for piece in self._through(item, then))
            case Loop():
                return self._loop(node, tuple(then))
            case Look() | Edge() | Boundary():
                return joined(
                    found
                    for condition in self._conditions(node)
                    for piece in then
                    for found in asserted(condition, piece)
                )
        raise AssertionError(node)

    def _concat(self, items: Sequence[Node], then: tuple[Piece, ...]) -> tuple[Piece, ...]:
        runs = groupby(items, key=lambda item: self._expr(item) is not None)
        for plain, run in reversed([(plain, tuple(run)) for plain, run in runs]):
            if plain:
                exprs = [self._expr(item) for item in run]
                whole = seq(*(expr for expr in exprs if expr is not None))
                then = joined(found for piece in then for found in prefixed(whole, piece))
                continue
            for item in reversed(run):
                then = self._through(item, then)
        return then

    # ------------------------------------------------------------------ parts that assert nothing

    def _expr(self, node: Node) -> Expr | None:
        """Return the language of a node that asserts nothing, else None."""
        match node:
            case Leaf(charset):
                return _one_of(charset)
            case Concat(items) | Either(items):
                key = id(node)
                if key not in self._plain:
                    parts = [self._expr(item) for item in items]
                    known = [part for part in parts if part is not None]
                    build = seq if isinstance(node, Concat) else alt
                    self._plain[key] = build(*known) if len(known) == len(parts) else None
                return self._plain[key]
            case Loop(item, minimum, maximum):
                inner = self._expr(item)
                return None if inner is None else repeat(inner, minimum, maximum)
        return None

    # ------------------------------------------------------------------ repetition

    def _loop(self, loop: Loop, then: tuple[Piece, ...]) -> tuple[Piece, ...]:
        if max(loop.minimum, loop.maximum or 0) > _MAX_UNROLLED:
            remedy = f"move the assertion out of the repetition, or stay under {_MAX_UNROLLED}"
            self._fail("an assertion is repeated too often", loop.position, remedy)
        found = then
        if loop.maximum is None:
            found = self._star(loop, then)
        else:
            for _ in range(loop.maximum - loop.minimum):
                found = joined((*then, *self._through(loop.item, found)))
                self._check_size(found, loop)
        for _ in range(loop.minimum):
            found = self._through(loop.item, found)
            self._check_size(found, loop)
        return found

    def _check_size(self, pieces: Sequence[Piece], loop: Loop) -> None:
        try:
            for piece in pieces:
                bounded_size(piece.body)
        except TooManySplits:
            remedy = "move the assertion out of the repetition"
            self._fail("assertions in this repetition interact", loop.position, remedy)

    def _star(self, loop: Loop, then: tuple[Piece, ...]) -> tuple[Piece, ...]:
        try:
            return starred(self._through(loop.item, (FREE,)), then)
        except TooManySplits:
            remedy = "move the assertion out of the repetition"
            self._fail("assertions in this repetition interact", loop.position, remedy)

    # ------------------------------------------------------------------ assertions

    def _conditions(self, node: Look | Edge | Boundary) -> Iterable[Condition]:
        match node:
            case Edge(end, line):
                side = _line_edge(line, end=end)
                return ((ANY_TEXT, side),) if end else ((side, ANY_TEXT),)
            case Boundary(word, negated):
                return _boundary(word, negated=negated)
            case Look():
                return self._look(node)

    def _look(self, look: Look) -> Iterable[Condition]:
        if look.behind:
            found = self._through(look.item, (FREE,))
            conditions = [(_seq(piece.before, piece.body), piece.after) for piece in found]
        else:
            found = self._through(look.item, (_REST,))
            conditions = [(piece.before, piece.body) for piece in found]
        return failing(conditions) if look.negated else conditions

    def _fail(self, fact: str, position: int, remedy: str) -> NoReturn:
        raise RegexError(fact, pattern=self.pattern, position=position, remedy=remedy)


def _one_of(charset: CharSet) -> Expr:
    if not charset:
        return NOTHING
    low, high = charset.ranges[0]
    single = len(charset.ranges) == 1 and low == high
    return Literal(chr(low)) if single else Chars(charset)


def _seq(*items: Expr) -> Expr:
    """Concatenate; two runs of any text are one."""
    kept = [
        item for i, item in enumerate(items) if not i or (item, items[i - 1]) != (ANY_TEXT,) * 2
    ]
    return seq(*kept)


def _line_edge(line: CharSet | None, *, end: bool) -> Expr:
    if line is None:
        return EMPTY
    terminator = Chars(line)
    return alt(EMPTY, seq(terminator, ANY_TEXT) if end else seq(ANY_TEXT, terminator))


def _boundary(word: CharSet, *, negated: bool) -> tuple[Condition, ...]:
    """Return both ways to be (or not to be) between a word character and something else."""
    ends, starts = seq(ANY_TEXT, Chars(word)), seq(Chars(word), ANY_TEXT)
    other_before, other_after = complement(ends), complement(starts)
    if negated:
        return ((ends, starts), (other_before, other_after))
    return ((ends, other_after), (other_before, starts))
