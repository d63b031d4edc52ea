"""Number sets as the texts that spell them.

Takes a `NumberSet` and the bounds on digits; gives a regular Expr of JSON numbers. Arithmetic is
exact (Fraction): a bound of 0.1 is a tenth. Where there is no bound on a side, powers of ten may
follow, as long as they cannot cross the bound of the other side.

A reader turns a text into a binary float, which rounds; rounding never crosses a closed bound, but
can reach an open one. So near an open bound a number has at most 15 significant digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

from constrain.schema.digits import DIGIT, at_least_places, at_most_places, naturals
from constrain.schema.options import SchemaOptions
from constrain.schema.types import NumberRange, NumberSet
from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    EMPTY,
    NOTHING,
    And,
    Chars,
    Divisible,
    Expr,
    alt,
    complement,
    conjunction,
    literal,
    repeat,
    seq,
)

__all__ = ["number_texts"]

_SIGNIFICANT = 15
_OPEN_PLACES = 12
_MAX_DIVISOR = 20_000
_MAX_LISTED = 1_000
# Remainders times decimal places, each taken once for every digit of the bounds.
_MAX_SCALED = 4_000
_MAX_REMAINDERS = 20_000
# A bound with more digits than this is left to the limit on digits.
_MAX_BOUND_DIGITS = 40
_POINT, _MINUS, _ZERO = literal("."), literal("-"), literal("0")
_SIGN = alt(EMPTY, _MINUS)
_E = Chars(CharSet.from_chars("eE"))
# Up to 279: with 20 digits before the point it stays below the largest float, 1.8e308.
_POWER = alt(
    repeat(DIGIT, 1, 2),
    seq(_ZERO, DIGIT, DIGIT),
    seq(literal("1"), DIGIT, DIGIT),
    seq(literal("2"), Chars(CharSet.from_chars("01234567")), DIGIT),
)
_UP = seq(_E, alt(EMPTY, literal("+")), _POWER)
_DOWN = seq(_E, _MINUS, _POWER)

Report = Callable[[str], None]


def number_texts(numbers: NumberSet, options: SchemaOptions, report: Report) -> Expr:
    """Return the texts of the numbers; `report` is told of a divisor that is not enforced."""
    points = (
        literal(text) for value, spelled in numbers.points for text in _spelled(value, spelled)
    )
    ranges = (_Range(r, options, report).texts() for r in numbers.ranges)
    return alt(*points, *ranges)


def _spelled(value: Fraction, spelled: str) -> tuple[str, ...]:
    plain = str(value.numerator)
    if value.denominator != 1 or len(plain) > _MAX_BOUND_DIGITS or plain == spelled:
        return (spelled,)
    return (plain, spelled)


@dataclass(frozen=True, slots=True)
class _Range:
    interval: NumberRange
    options: SchemaOptions
    report: Report

    def texts(self) -> Expr:
        """Return all spellings of the numbers in the interval."""
        step = _common(self.interval.multiples)
        listed = self._listed(step)
        if listed is not None:
            return listed
        if step is not None and step.denominator == 1:
            found = self._whole(step.numerator)
            if any(excluded.denominator != 1 for excluded in self.interval.exclusions):
                found = conjunction((found, self._short()))
        else:
            found = self._real(step)
        remainders = step or Fraction(1)
        for excluded in _needed(step, self.interval.exclusions):
            multiples = self._multiples(excluded)
            remainders = _multiple_of(remainders, excluded)
            if multiples is None or remainders.numerator > _MAX_REMAINDERS:
                self.report(f"not a multiple of {float(excluded):g} has no small automaton")
            else:
                found = conjunction((found, complement(multiples)))
        return found

    def _listed(self, step: Fraction | None) -> Expr | None:
        """Return the few numbers of a bounded set one by one, where no automaton divides."""
        low, high = self.interval.low, self.interval.high
        if step is None or low is None or high is None or self.interval.exclusions:
            return None
        first, last = ceil(low / step), floor(high / step)
        first += self.interval.low_open and first * step == low
        last -= self.interval.high_open and last * step == high
        if self._multiples(step) is not None or last - first > _MAX_LISTED:
            return None
        return alt(*(literal(_plain(n * step)) for n in range(first, last + 1)))

    # ------------------------------------------------------------ whole numbers

    def _whole(self, step: int) -> Expr:
        low, high = self.interval.low, self.interval.high
        first = None if low is None else ceil(low)
        last = None if high is None else floor(high)
        if first is not None and self.interval.low_open and first == low:
            first += 1
        if last is not None and self.interval.high_open and last == high:
            last -= 1
        positive: Expr = NOTHING
        if last is None or last >= 0:
            positive = self._naturals(max(first or 0, 0), last)
        negative: Expr = NOTHING
        if first is None or first < 0:
            upper = None if first is None else -first
            negative = self._naturals(1 if last is None else max(1, -last), upper)
        return alt(self._divided(positive, step), seq(_MINUS, self._divided(negative, step)))

    def _naturals(self, low: int, high: int | None) -> Expr:
        if high is not None and len(str(high)) > _MAX_BOUND_DIGITS:
            high = None
        return naturals(low, high, self.options.integer_digits)

    def _divided(self, magnitudes: Expr, step: int) -> Expr:
        if step == 1 or magnitudes == NOTHING:
            return magnitudes
        divisible = self._divisible(step)
        if divisible is None:
            self.report(f"the divisor {step} is too large for an automaton")
            return magnitudes
        return And((magnitudes, divisible))

    def _divisible(self, step: int) -> Expr | None:
        zeros = len(str(step)) - len(str(step).rstrip("0"))
        odd = step // 10**zeros
        if odd > _MAX_DIVISOR:
            return None
        if not zeros:
            return Divisible(odd)
        leading = repeat(DIGIT, 1, None) if odd == 1 else Divisible(odd)
        return alt(_ZERO, seq(leading, literal("0" * zeros)))

    # ------------------------------------------------------------ real numbers

    def _real(self, step: Fraction | None) -> Expr:
        plain = step is not None or bool(self.interval.exclusions)
        found = alt(self._positive(plain=plain), seq(_MINUS, self._negative(plain=plain)))
        if self.interval == NumberRange():
            return alt(found, literal("-0"))
        if plain:
            found = conjunction((found, self._short()))
        if step is None:
            return found
        multiples = self._multiples(step)
        if multiples is None:
            self.report(f"the divisor {float(step):g} has too many digits for an automaton")
            return found
        return conjunction((found, multiples))

    def _short(self) -> Expr:
        """Return texts whose digits a binary float keeps apart."""
        return seq(_SIGN, repeat(DIGIT, 1, 9), alt(EMPTY, seq(_POINT, repeat(DIGIT, 1, 6))))

    def _positive(self, *, plain: bool) -> Expr:
        low, high = self.interval.low, self.interval.high
        if high is not None and (high < 0 or (high == 0 and self.interval.high_open)):
            return NOTHING
        if low is None or low < 0:
            return self._magnitudes(Fraction(0), high, (False, self.interval.high_open), plain)
        opened = (self.interval.low_open, self.interval.high_open)
        return self._magnitudes(low, high, opened, plain)

    def _negative(self, *, plain: bool) -> Expr:
        low, high = self.interval.low, self.interval.high
        if low is not None and low >= 0:
            return NOTHING
        upper = None if low is None else -low
        if high is None or high >= 0:
            return self._magnitudes(Fraction(0), upper, (True, self.interval.low_open), plain)
        opened = (self.interval.high_open, self.interval.low_open)
        return self._magnitudes(-high, upper, opened, plain)

    def _magnitudes(
        self, low: Fraction, high: Fraction | None, opened: tuple[bool, bool], plain: bool
    ) -> Expr:
        """Return the unsigned texts from `low` (at least 0) to `high`."""
        if high is not None and len(str(floor(high))) > _MAX_BOUND_DIGITS:
            high, opened = None, (opened[0], False)
        found = self._plain_magnitudes(low, high, opened)
        powers = (
            NOTHING
            if plain
            else alt(_UP if high is None else NOTHING, _DOWN if low == 0 else NOTHING)
        )
        return found if powers == NOTHING else seq(found, alt(EMPTY, powers))

    def _plain_magnitudes(
        self, low: Fraction, high: Fraction | None, opened: tuple[bool, bool]
    ) -> Expr:
        whole, places = _split(low)
        near = self._places(low, high, opened)
        lead = near if whole > self._safe() else self._places(low, None, opened)
        lowest = _fraction(
            at_least_places(places, lead, strict=opened[0]), not (places or opened[0])
        )
        if high is None:
            above = self._between(whole + 1, None, near if opened[0] and low else None)
            return alt(seq(literal(str(whole)), lowest), above)
        top, top_places = _split(high)
        may_end = bool(top_places) or not opened[1]
        upper = at_most_places(top_places, near, strict=opened[1])
        if top == whole:
            inner = conjunction((at_least_places(places, near, strict=opened[0]), upper))
            ends = may_end and not (places or opened[0])
            return seq(literal(str(whole)), _fraction(inner, ends))
        return alt(
            seq(literal(str(whole)), lowest),
            self._between(whole + 1, top - 1, near if opened[1] or (opened[0] and low) else None),
            seq(literal(str(top)), _fraction(upper, may_end)),
        )

    def _between(self, low: int, high: int | None, near: int | None) -> Expr:
        """Return all numbers with a whole part from `low` to `high`.

        With `near`: numbers so large that rounding might reach an open bound get so many places.
        """
        if near is None:
            return seq(self._naturals(low, high), _places(self.options.fraction_digits))
        most, safe = min(_OPEN_PLACES, self.options.fraction_digits), self._safe()
        if (high is None and low <= safe) or (high is not None and high <= safe):
            return seq(self._naturals(low, high), _places(most))
        small = self._naturals(low, safe) if low <= safe else NOTHING
        large = self._naturals(max(low, safe + 1), high)
        return alt(seq(small, _places(most)), seq(large, _places(near)))

    def _safe(self) -> int:
        """Return the largest whole part that a float tells apart with all decimal places."""
        return int(10 ** (_SIGNIFICANT - min(_OPEN_PLACES, self.options.fraction_digits))) - 1

    def _places(self, low: Fraction, high: Fraction | None, opened: tuple[bool, bool]) -> int:
        """Return how many decimal places a number may have beside the bounds."""
        most = self.options.fraction_digits
        bounds = [b for b, is_open in zip((low, high), opened, strict=True) if is_open and b]
        for bound in bounds:
            most = min(most, _OPEN_PLACES, max(0, _SIGNIFICANT - len(str(floor(bound)))))
        given = [len(_split(bound)[1]) for bound in (low, high) if bound is not None]
        return max(most, *given)

    # ------------------------------------------------------------ multiples

    def _multiples(self, step: Fraction) -> Expr | None:
        """Return all plain texts of multiples of `step`; None where that takes too many states."""
        scale = len(_split(step)[1])
        size = int(step * 10**scale)
        if scale == 0:
            divisible = self._divisible(size)
            zeros = alt(EMPTY, seq(_POINT, repeat(_ZERO, 1, None)))
            return None if divisible is None else seq(_SIGN, divisible, zeros)
        if size * (scale + 2) > _MAX_SCALED:
            return None
        return seq(_SIGN, Divisible(size, scale))


def _places(most: int) -> Expr:
    return alt(EMPTY, seq(_POINT, repeat(DIGIT, 1, most))) if most else EMPTY


def _fraction(places: Expr, may_end: bool) -> Expr:
    return alt(EMPTY if may_end else NOTHING, seq(_POINT, places))


def _split(value: Fraction) -> tuple[int, str]:
    """Return the whole part and the decimal places of a number of at least 0."""
    whole = floor(value)
    rest, places = value - whole, ""
    while rest:
        rest *= 10
        digit = floor(rest)
        places += str(digit)
        rest -= digit
    return whole, places


def _plain(value: Fraction) -> str:
    whole, places = _split(abs(value))
    return f"{'-' if value < 0 else ''}{whole}{'.' + places if places else ''}"


def _common(steps: frozenset[Fraction]) -> Fraction | None:
    """Return the least common multiple."""
    found: Fraction | None = None
    for step in steps:
        if found is None:
            found = step
            continue
        found = _multiple_of(found, step)
    return found


def _multiple_of(left: Fraction, right: Fraction) -> Fraction:
    """Return the least common multiple."""
    scale = lcm(left.denominator, right.denominator)
    return Fraction(lcm(int(left * scale), int(right * scale)), scale)


def _needed(step: Fraction | None, exclusions: frozenset[Fraction]) -> list[Fraction]:
    """Return the exclusions, without those whose multiples another one excludes among `step`'s."""
    among = {e: e if step is None else _multiple_of(step, e) for e in exclusions}
    found: list[Fraction] = []
    for excluded in sorted(exclusions, key=lambda e: (among[e], e)):
        if not any((among[excluded] / other).denominator == 1 for other in found):
            found.append(excluded)
    return found
