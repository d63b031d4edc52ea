"""Questions and operations on regular Exprs that their shape alone answers, without an automaton.

`nullable`, `width` and `meet` (an intersection that simplifies), and `split`: every way to cut
the texts of a language in two. All recurse over the shape of the Expr; `split` may give up with
`TooManySplits`, since its result can be much larger than its argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from constrain.syntax.charset import ANY, CharSet
from constrain.syntax.expr import (
    ANY_TEXT,
    EMPTY,
    NOTHING,
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
    alt,
    complement,
    conjunction,
    literal,
    repeat,
    seq,
)

__all__ = [
    "MAX_SIZE",
    "Split",
    "TooManySplits",
    "bounded_size",
    "join",
    "meet",
    "nullable",
    "single",
    "split",
    "width",
]

Split = tuple[Expr, Expr]
"""A pair (left, right): every text of left followed by every text of right is in the language."""

MAX_SIZE = 10_000
"""Nodes an expression may have before the work on its assertions is given up."""

_MAX_SPLITS = 128
_MAX_SPREAD = 4


class TooManySplits(Exception):
    """The ways to cut a language in two are more than `split` lists."""


def nullable(expr: Expr) -> bool:
    """Return whether the empty text is in the language."""
    match expr:
        case Empty():
            return True
        case Seq(items) | And(items):
            return all(nullable(item) for item in items)
        case Alt(items):
            return any(nullable(item) for item in items)
        case Repeat(item, minimum, _):
            return minimum == 0 or nullable(item)
        case Not(item):
            return not nullable(item)
    return False


def width(expr: Expr) -> tuple[int, int | None]:
    """Return bounds of the lengths of the texts (None: unbounded); loose for And and Not."""
    match expr:
        case Literal(text):
            return len(text), len(text)
        case Chars():
            return 1, 1
        case Seq(items):
            bounds = [width(item) for item in items]
            return sum(low for low, _ in bounds), _total(high for _, high in bounds)
        case Alt(items):
            bounds = [width(item) for item in items]
            highs = [high for _, high in bounds]
            return min(low for low, _ in bounds), _greatest(highs)
        case And(items):
            bounds = [width(item) for item in items]
            finite = [high for _, high in bounds if high is not None]
            return max(low for low, _ in bounds), min(finite, default=None)
        case Repeat(item, minimum, maximum):
            low, high = width(item)
            most = None if maximum is None or high is None else high * maximum
            return low * minimum, 0 if high == 0 else most
        case Not(item):
            return (1 if nullable(item) else 0), None
    return 0, 0


def single(expr: Expr) -> CharSet:
    """Return the characters that are, alone, texts of the language."""
    match expr:
        case Chars(charset):
            return charset
        case Literal(text):
            return CharSet.from_chars(text) if len(text) == 1 else CharSet(())
        case Seq(items):
            return _single_of_seq(items)
        case Alt(items):
            return CharSet.of(r for item in items for r in single(item).ranges)
        case And(items):
            found = ANY
            for item in items:
                found &= single(item)
            return found
        case Repeat(item, minimum, _):
            return single(item) if minimum <= 1 or nullable(item) else CharSet(())
        case Not(item):
            return ~single(item)
    return CharSet(())


def meet(left: Expr, right: Expr) -> Expr:
    """Return the intersection, in one canonical order, simplified where the shapes allow it."""
    if ANY_TEXT in (left, right) or left == right:
        return right if left == ANY_TEXT else left
    if NOTHING in (left, right) or _disjoint_widths(left, right):
        return NOTHING
    if EMPTY in (left, right):
        return EMPTY if nullable(left) and nullable(right) else NOTHING
    for a, b in ((left, right), (right, left)):
        if isinstance(a, Chars) or (isinstance(a, Literal) and len(a.text) == 1):
            return _chars(single(a) & single(b))
        if isinstance(a, Alt) and len(a.items) <= _MAX_SPREAD:
            return alt(*(meet(item, b) for item in a.items))
        if isinstance(a, Seq) and (edge := _edge(b)):
            trimmed = _trim(a, *edge)
            if trimmed is not None:
                return trimmed
    return _in_order(conjunction((left, right)))


def split(expr: Expr) -> tuple[Split, ...]:
    """Return pairs that together hold every way to cut every text of the language in two.

    Raises TooManySplits when there are more than a hundred or so.
    """
    match expr:
        case Nothing():
            return ()
        case Empty():
            return ((EMPTY, EMPTY),)
        case Chars():
            return ((EMPTY, expr), (expr, EMPTY))
        case Literal(text):
            return _bounded((literal(text[:i]), literal(text[i:])) for i in range(len(text) + 1))
        case Seq(items):
            return _bounded(_split_seq(items))
        case Alt(items):
            return _bounded(pair for item in items for pair in split(item))
        case Repeat(item, minimum, maximum):
            return _bounded(_split_repeat(item, minimum, maximum))
        case And(items):
            return _split_and(items)
        case Not(item):
            return _split_not(split(item))
    raise TooManySplits


def join(left: Expr, right: Expr) -> Expr:
    """Return the union, in which any text absorbs the rest."""
    return ANY_TEXT if ANY_TEXT in (left, right) else alt(left, right)


def bounded_size(expr: Expr, allowed: int = MAX_SIZE) -> int:
    """Return the number of nodes; raises TooManySplits above `allowed`."""
    count, todo = 0, [expr]
    while todo:
        count += 1
        if count > allowed:
            raise TooManySplits
        node = todo.pop()
        if isinstance(node, Seq | Alt | And):
            todo.extend(node.items)
        elif isinstance(node, Repeat | Not):
            todo.append(node.item)
    return count


def _total(values: Iterable[int | None]) -> int | None:
    listed = list(values)
    return None if None in listed else sum(v for v in listed if v is not None)


def _greatest(values: list[int | None]) -> int | None:
    return None if None in values else max(v for v in values if v is not None)


def _chars(charset: CharSet) -> Expr:
    return Chars(charset) if charset else NOTHING


def _single_of_seq(items: tuple[Expr, ...]) -> CharSet:
    needed = [item for item in items if not nullable(item)]
    if len(needed) > 1:
        return CharSet(())
    candidates = needed or items
    return CharSet.of(r for item in candidates for r in single(item).ranges)


def _disjoint_widths(left: Expr, right: Expr) -> bool:
    (low_a, high_a), (low_b, high_b) = width(left), width(right)
    return (high_a is not None and high_a < low_b) or (high_b is not None and high_b < low_a)


def _in_order(expr: Expr) -> Expr:
    return And(tuple(sorted(expr.items, key=repr))) if isinstance(expr, And) else expr


def _edge(expr: Expr) -> tuple[bool, CharSet] | None:
    """Return (last?, set) for 'any text that begins (ends) with a character of the set'."""
    negated = isinstance(expr, Not)
    inner = expr.item if isinstance(expr, Not) else expr
    if not isinstance(inner, Seq) or len(inner.items) != 2 or ANY_TEXT not in inner.items:
        return None
    last = inner.items[0] == ANY_TEXT
    char = inner.items[1] if last else inner.items[0]
    if not isinstance(char, Chars):
        return None
    return last, ~char.charset if negated else char.charset


def _trim(expr: Seq, last: bool, charset: CharSet) -> Expr | None:
    """Meet a sequence with an edge condition when its outer item is one character or a literal."""
    outer = expr.items[-1] if last else expr.items[0]
    if isinstance(outer, Literal):
        inside = ord(outer.text[-1 if last else 0]) in charset
        return expr if inside else NOTHING
    if not isinstance(outer, Chars):
        return None
    kept = _chars(outer.charset & charset)
    return seq(*expr.items[:-1], kept) if last else seq(kept, *expr.items[1:])


def _bounded(pairs: Iterable[Split]) -> tuple[Split, ...]:
    """Drop impossible pairs, join those that share a side, and count them."""
    by_right: dict[Expr, Expr] = {}
    for left, right in pairs:
        if NOTHING not in (left, right):
            by_right[right] = join(by_right.get(right, NOTHING), left)
        if len(by_right) > _MAX_SPLITS:
            raise TooManySplits
    return tuple((left, right) for right, left in by_right.items())


def _split_seq(items: tuple[Expr, ...]) -> Iterator[Split]:
    for i, item in enumerate(items):
        for left, right in split(item):
            if i and left == EMPTY:
                continue  # the same cut as at the end of the item before
            yield seq(*items[:i], left), seq(right, *items[i + 1 :])


def _split_repeat(item: Expr, minimum: int, maximum: int | None) -> Iterator[Split]:
    """Cut between two rounds, or inside one of them."""
    if max(minimum, maximum or 0) > _MAX_SPLITS:
        raise TooManySplits
    inner = [p for p in split(item) if EMPTY not in p]
    rounds = minimum if maximum is None else maximum
    for i in range(rounds + 1):
        last = maximum is None and i == rounds
        before = repeat(item, i, None if last else i)
        rest = None if maximum is None else maximum - i
        yield before, repeat(item, max(minimum - i, 0), rest)
        if i < rounds or last:
            rest = None if maximum is None else maximum - i - 1
            after = repeat(item, max(minimum - i - 1, 0), rest)
            for left, right in inner:
                yield seq(before, left), seq(right, after)


def _split_and(items: tuple[Expr, ...]) -> tuple[Split, ...]:
    found: tuple[Split, ...] = ((ANY_TEXT, ANY_TEXT),)
    for item in items:
        found = _bounded((meet(a, c), meet(b, d)) for a, b in found for c, d in split(item))
    return found


def _split_not(pairs: tuple[Split, ...]) -> tuple[Split, ...]:
    """Each pair of the complemented language must fail, on its left or on its right."""
    found: tuple[Split, ...] = ((ANY_TEXT, ANY_TEXT),)
    for left, right in pairs:
        not_left, not_right = complement(left), complement(right)
        found = _bounded(
            pair for a, b in found for pair in ((meet(a, not_left), b), (a, meet(b, not_right)))
        )
    return found
