r"""Length limits pushed into a language where its shape allows, which spares a product of automata.

Takes a regular Expr and bounds on the number of characters; gives the Expr of its texts within the
bounds, or None where only a product (`And`) can tell. `^[a-z]\w*$` of at most 260 characters is
`[a-z]\w{0,259}`, which counts; the product of the two would have a state for every count.
"""

from __future__ import annotations

from dataclasses import replace

from constrain.syntax.expr import (
    NOTHING,
    Alt,
    Chars,
    Expr,
    Repeat,
    Seq,
    alt,
    repeat,
    seq,
)
from constrain.syntax.languages import width

__all__ = ["within"]


def within(language: Expr, minimum: int, maximum: int | None) -> Expr | None:
    """Return the texts of `minimum` to `maximum` characters, or None if the shape does not tell."""
    low, high = width(language)
    if (high is not None and high < minimum) or (maximum is not None and low > maximum):
        return NOTHING
    if low >= minimum and (maximum is None or (high is not None and high <= maximum)):
        return language
    if isinstance(language, Alt):
        parts = [within(item, minimum, maximum) for item in language.items]
        return alt(*(p for p in parts if p is not None)) if None not in parts else None
    items = _joined(language.items if isinstance(language, Seq) else (language,))
    free = [i for i, item in enumerate(items) if len(set(width(item))) == 2]
    if len(free) != 1:
        return None
    (at,) = free
    fixed = sum(width(item)[0] for i, item in enumerate(items) if i != at)
    run = _run(items[at], minimum - fixed, None if maximum is None else maximum - fixed)
    return None if run is None else seq(*items[:at], run, *items[at + 1 :])


def _run(item: Expr, minimum: int, maximum: int | None) -> Expr | None:
    if not isinstance(item, Repeat) or not isinstance(item.item, Chars):
        return None
    low = max(item.minimum, minimum)
    highs = [high for high in (item.maximum, maximum) if high is not None]
    high = min(highs, default=None)
    return NOTHING if high is not None and high < low else repeat(item.item, low, high)


def _joined(items: tuple[Expr, ...]) -> list[Expr]:
    """Return the sequence with unbounded runs side by side joined where one holds the other."""
    found: list[Expr] = []
    for item in items:
        joined = _one_run(found[-1], item) if found else None
        if joined is None:
            found.append(item)
        else:
            found[-1] = joined
    return found


def _one_run(left: Expr, right: Expr) -> Expr | None:
    if not (isinstance(left, Repeat) and isinstance(right, Repeat)):
        return None
    if not (isinstance(left.item, Chars) and isinstance(right.item, Chars)):
        return None
    if left.maximum is not None or right.maximum is not None or left.minimum or right.minimum:
        return None
    if not left.item.charset - right.item.charset:
        return replace(right)
    return replace(left) if not right.item.charset - left.item.charset else None
