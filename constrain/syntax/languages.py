"""Questions and operations on regular Exprs that their shape alone answers, without an automaton.

`nullable`, `width` and `meet` (an intersection that simplifies), and `split`: every way to cut
the texts of a language in two. All recurse over the shape of the Expr; `split` may give up with
`TooManySplits`, since its result can be much larger than its argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

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
    "texts",
    "width",
]

Split = tuple[Expr, Expr]
"""A pair (left, right): every text of left followed by every text of right is in the language."""

MAX_SIZE = 10_000
"""Nodes an expression may have before the work on its assertions is given up."""

_NOT_EMPTY = Not(EMPTY)
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


def texts(expr: Expr, most: int) -> tuple[str, ...] | None:
    """Return all texts of a language; None where they are more than `most`, or not seen to be."""
    found: Iterable[str] | None = None
    match expr:
        case Nothing():
            found = ()
        case Empty():
            found = ("",)
        case Literal(text):
            found = (text,)
        case Chars(charset) if sum(high - low + 1 for low, high in charset.ranges) <= most:
            found = (chr(c) for low, high in charset.ranges for c in range(low, high + 1))
        case Alt(items):
            parts = [texts(item, most) for item in items]
            found = None if None in parts else (t for part in parts for t in part or ())
        case Seq(items):
            found = _joined_texts(items, most)
        case Repeat(item, minimum, maximum) if maximum is not None and maximum <= most:
            ways = (_joined_texts((item,) * n, most) for n in range(minimum, maximum + 1))
            parts = [None if way is None else tuple(way) for way in ways]
            found = None if None in parts else (t for part in parts for t in part or ())
    listed = () if found is None else tuple(dict.fromkeys(found))
    return None if found is None or len(listed) > most else listed


def _joined_texts(items: tuple[Expr, ...], most: int) -> tuple[str, ...] | None:
    found: tuple[str, ...] = ("",)
    for item in items:
        part = texts(item, most)
        if part is None or len(found) * len(part) > most:
            return None
        found = tuple(left + right for left in found for right in part)
    return found


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
        simpler = _met_by_shape(a, b)
        if simpler is not None:
            return simpler
    return _in_order(conjunction((left, right)))


def _met_by_shape(a: Expr, b: Expr) -> Expr | None:
    """Return the intersection when `b` asks something that the shape of `a` answers."""
    if isinstance(a, And):
        for i, item in enumerate(a.items):
            simpler = _met_by_shape(item, b)
            if simpler is not None:
                rest = conjunction(a.items[:i] + a.items[i + 1 :])
                return meet(rest, simpler)
        return None
    if b == _NOT_EMPTY:
        return _without_empty(a)
    edge = _edge(b)
    return _trimmed(a, edge) if edge else None


def _without_empty(expr: Expr) -> Expr | None:
    if not nullable(expr):
        return expr
    edge = _edge(expr)
    if edge:
        return _edge_expr(replace(edge, empty=False))
    if isinstance(expr, Repeat) and not nullable(expr.item):
        return repeat(expr.item, 1, expr.maximum)
    return None


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


@dataclass(frozen=True, slots=True)
class _Edge:
    """Texts whose last (or first) character is in a set; with `empty`, also the empty text."""

    last: bool
    charset: CharSet
    empty: bool


def _edge(expr: Expr) -> _Edge | None:
    """Return the edge condition that the expression is, if it is one."""
    negated = isinstance(expr, Not)
    inner = expr.item if isinstance(expr, Not) else expr
    if not isinstance(inner, Seq) or len(inner.items) != 2 or ANY_TEXT not in inner.items:
        return None
    last = inner.items[0] == ANY_TEXT
    char = inner.items[1] if last else inner.items[0]
    if not isinstance(char, Chars):
        return None
    return _Edge(last, ~char.charset if negated else char.charset, negated)


def _edge_expr(edge: _Edge) -> Expr:
    charset = ~edge.charset if edge.empty else edge.charset
    found = seq(ANY_TEXT, _chars(charset)) if edge.last else seq(_chars(charset), ANY_TEXT)
    return complement(found) if edge.empty else found


def _trimmed(expr: Expr, edge: _Edge) -> Expr | None:
    """Return the texts of `expr` that meet the edge condition; None when its shape hides them."""
    own = _edge(expr)
    if own and own.last == edge.last:
        both = own.charset & edge.charset
        return _edge_expr(_Edge(edge.last, both, own.empty and edge.empty))
    match expr:
        case Chars(charset):
            return _chars(charset & edge.charset)
        case Literal(text):
            return expr if ord(text[-1 if edge.last else 0]) in edge.charset else NOTHING
        case Repeat(item, minimum, maximum) if width(item) == (1, 1) and not isinstance(item, And):
            return _trimmed_run(single(item), minimum, maximum, edge)
        case Seq(items):
            outer = items[-1] if edge.last else items[0]
            trimmed = None if nullable(outer) else _trimmed(outer, edge)
            if trimmed is None:
                return None
            return seq(*items[:-1], trimmed) if edge.last else seq(trimmed, *items[1:])
    return None


def _trimmed_run(charset: CharSet, minimum: int, maximum: int | None, edge: _Edge) -> Expr:
    kept = _chars(charset & edge.charset)
    most = None if maximum is None else maximum - 1
    rest = repeat(Chars(charset), max(minimum - 1, 0), most)
    if kept == Chars(charset):
        run = repeat(kept, minimum if edge.empty else max(minimum, 1), maximum)
    else:
        run = seq(rest, kept) if edge.last else seq(kept, rest)
    return alt(EMPTY, run) if edge.empty and minimum == 0 and not nullable(run) else run


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
            if right == EMPTY and i + 1 < len(items) and _is_star(items[i + 1]):
                continue  # the star has a cut that holds this one
            yield seq(*items[:i], left), seq(right, *items[i + 1 :])


def _is_star(expr: Expr) -> bool:
    return isinstance(expr, Repeat) and expr.minimum == 0 and expr.maximum is None


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
