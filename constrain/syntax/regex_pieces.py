"""Piece: what a part of a regex denotes when assertions may stand in it.

A part matches a span of a text; an assertion also speaks of what is left and right of the span.
A `Piece` is a rectangle of that relation: `before` is the language that all the text left of the
span must be in, `body` that of the span, `after` that of all the text right of it. A part denotes
a finite union of pieces, and the functions here build larger parts out of smaller ones, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from constrain.syntax.expr import ANY_TEXT, EMPTY, NOTHING, Expr, Not, complement, seq
from constrain.syntax.languages import TooManySplits, join, meet, split

__all__ = ["FREE", "Condition", "Piece", "asserted", "composed", "failing", "joined", "prefixed"]

_MAX_PIECES = 256

Condition = tuple[Expr, Expr]
"""What an assertion asks of a place: the languages of the texts before and after it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A span in `body`, with the text before it in `before` and the text after it in `after`."""

    before: Expr
    body: Expr
    after: Expr


FREE = Piece(ANY_TEXT, EMPTY, ANY_TEXT)
"""The empty span, anywhere."""


def joined(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Drop impossible pieces and unite those with equal surroundings."""
    bodies: dict[Condition, Expr] = {}
    for piece in pieces:
        if NOTHING not in (piece.before, piece.body, piece.after):
            key = (piece.before, piece.after)
            bodies[key] = join(bodies.get(key, NOTHING), piece.body)
        if len(bodies) > _MAX_PIECES:
            raise TooManySplits
    return tuple(Piece(before, body, after) for (before, after), body in bodies.items())


def prefixed(expr: Expr, then: Piece) -> Iterator[Piece]:
    """Yield the pieces of `expr` (which asserts nothing) followed by `then`."""
    for left, right in _cuts(then.before):
        yield Piece(left, seq(meet(expr, right), then.body), then.after)


def asserted(condition: Condition, then: Piece) -> Iterator[Piece]:
    """Yield the pieces of `then` that meet the condition at their left end."""
    before, after = condition
    kept = meet(before, then.before)
    if kept != NOTHING:
        for body, rest in _continued(after, then):
            yield Piece(kept, body, rest)


def composed(first: Piece, then: Piece) -> Iterator[Piece]:
    """Yield the pieces of `first` followed by `then`."""
    for piece in asserted((ANY_TEXT, first.after), then):
        for found in prefixed(first.body, piece):
            yield Piece(meet(first.before, found.before), found.body, found.after)


def failing(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return conditions of which one holds exactly where none of the given ones does."""
    found: list[Condition] = [(ANY_TEXT, ANY_TEXT)]
    for before, after in conditions:
        not_before, not_after = complement(before), complement(after)
        pairs = [
            pair
            for b, a in found
            for pair in ((meet(b, not_before), a), (b, meet(a, not_after)))
            if NOTHING not in pair
        ]
        found = list(dict.fromkeys(pairs))
        if len(found) > _MAX_PIECES:
            raise TooManySplits
    return tuple(found)


def _cuts(before: Expr) -> tuple[tuple[Expr, Expr], ...]:
    return ((ANY_TEXT, ANY_TEXT),) if before == ANY_TEXT else split(before)


def _continued(condition: Expr, then: Piece) -> Iterator[tuple[Expr, Expr]]:
    """Yield (body, after) pairs of `then` whose texts, joined, are in `condition`."""
    if condition == ANY_TEXT:
        yield then.body, then.after
    elif then.after == EMPTY:
        yield meet(then.body, condition), EMPTY
    elif then.body == EMPTY:
        yield EMPTY, meet(then.after, condition)
    elif isinstance(condition, Not):
        yield from _avoiding(condition.item, then)
    else:
        for left, right in split(condition):
            yield meet(then.body, left), meet(then.after, right)


def _avoiding(banned: Expr, then: Piece) -> list[tuple[Expr, Expr]]:
    """Return (body, after) pairs no text of which is in `banned`; only what can meet is cut off."""
    found = [(then.body, then.after)]
    for left, right in split(banned):
        if NOTHING in (meet(then.body, left), meet(then.after, right)):
            continue
        not_left, not_right = complement(left), complement(right)
        pairs: dict[tuple[Expr, Expr], None] = {}
        for body, after in found:
            options = ((meet(body, not_left), after), (body, meet(after, not_right)))
            kept = [(body, after)] if (body, after) in options else options
            pairs.update((pair, None) for pair in kept if NOTHING not in pair)
        found = list(pairs)
        if len(found) > _MAX_PIECES:
            raise TooManySplits
    return found
