"""Runs of decimal digits between bounds, as expressions: the arithmetic below `numbers`.

Takes whole numbers and strings of decimal places; gives regular Exprs over the digits 0 to 9. Knows
no sign, no point and no exponent.
"""

from __future__ import annotations

from constrain.syntax.charset import CharSet
from constrain.syntax.expr import EMPTY, NOTHING, Chars, Expr, alt, literal, repeat, seq

__all__ = ["DIGIT", "at_least_places", "at_most_places", "naturals"]

DIGIT = Chars(CharSet.of([(ord("0"), ord("9"))]))


def naturals(low: int, high: int | None, digits: int) -> Expr:
    """Return the whole numbers from `low` to `high`, or of up to `digits` digits; no leading 0s."""
    if high is None:
        longest = max(digits, len(str(low)))
        following = repeat(DIGIT, len(str(low)), longest - 1) if longest > len(str(low)) else None
        same = _same_length(str(low), "9" * len(str(low)))
        return same if following is None else alt(same, seq(_between("1", "9"), following))
    if low > high:
        return NOTHING
    parts = []
    first, last = str(low), str(high)
    if len(first) == len(last):
        return _same_length(first, last)
    parts.append(_same_length(first, "9" * len(first)))
    if len(last) - len(first) > 1:
        parts.append(seq(_between("1", "9"), repeat(DIGIT, len(first), len(last) - 2)))
    parts.append(_same_length("1" + "0" * (len(last) - 1), last))
    return alt(*parts)


def _between(low: str, high: str) -> Expr:
    if low > high:
        return NOTHING
    return literal(low) if low == high else Chars(CharSet.of([(ord(low), ord(high))]))


def _any(count: int) -> Expr:
    return repeat(DIGIT, count, count) if count else EMPTY


def _below(digit: str) -> str:
    return chr(ord(digit) - 1)


def _above(digit: str) -> str:
    return chr(ord(digit) + 1)


def _same_length(low: str, high: str) -> Expr:
    if low == high:
        return literal(low)
    shared = 0
    while low[shared] == high[shared]:
        shared += 1
    first, last, left = low[shared], high[shared], len(low) - shared - 1
    rest_low, rest_high = low[shared + 1 :], high[shared + 1 :]
    if not rest_low.strip("0"):
        first = _below(first)
    if not rest_high.strip("9"):
        last = _above(last)
    parts = [seq(_between(_above(first), _below(last)), _any(left))]
    if rest_low.strip("0"):
        parts.insert(0, seq(literal(first), _from(rest_low)))
    if rest_high.strip("9"):
        parts.append(seq(literal(last), _up_to(rest_high)))
    return seq(literal(low[:shared]), alt(*parts))


def _from(low: str) -> Expr:
    if not low.strip("0"):
        return _any(len(low))
    higher = seq(_between(_above(low[0]), "9"), _any(len(low) - 1))
    return alt(seq(literal(low[0]), _from(low[1:])), higher)


def _up_to(high: str) -> Expr:
    if not high.strip("9"):
        return _any(len(high))
    lower = seq(_between("0", _below(high[0])), _any(len(high) - 1))
    return alt(lower, seq(literal(high[0]), _up_to(high[1:])))


def at_least_places(places: str, most: int, *, strict: bool) -> Expr:
    """Return the decimal places (1 to `most` digits) worth at least, or more than, `places`."""
    places = places.rstrip("0")
    if most < 1:
        return NOTHING
    if not places:
        return _not_zero(most) if strict else repeat(DIGIT, 1, most)
    higher = seq(_between(_above(places[0]), "9"), repeat(DIGIT, 0, most - 1))
    rest = places[1:].rstrip("0")
    ends = EMPTY if not rest and not strict else NOTHING
    further = at_least_places(rest, most - 1, strict=strict) if most > 1 else NOTHING
    return alt(higher, seq(literal(places[0]), alt(ends, further)))


def at_most_places(places: str, most: int, *, strict: bool) -> Expr:
    """Return the decimal places (1 to `most` digits) worth at most, or less than, `places`."""
    places = places.rstrip("0")
    if most < 1:
        return NOTHING
    if not places:
        return NOTHING if strict else repeat(literal("0"), 1, most)
    lower = seq(_between("0", _below(places[0])), repeat(DIGIT, 0, most - 1))
    rest = places[1:].rstrip("0")
    ends = EMPTY if rest or not strict else NOTHING
    further = at_most_places(rest, most - 1, strict=strict) if most > 1 else NOTHING
    return alt(lower, seq(literal(places[0]), alt(ends, further)))


def _not_zero(most: int) -> Expr:
    if most < 1:
        return NOTHING
    return alt(
        seq(_between("1", "9"), repeat(DIGIT, 0, most - 1)), seq(literal("0"), _not_zero(most - 1))
    )
