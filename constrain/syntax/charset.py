"""CharSet: a set of Unicode scalar values as sorted, disjoint, non-adjacent ranges.

Takes and gives code points; knows no UTF-8, no regex syntax and no automata. Surrogates
(U+D800 to U+DFFF) are never members: they have no UTF-8 encoding (RFC 3629 section 3).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["ANY", "MAX_CODE_POINT", "CharSet"]

MAX_CODE_POINT = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class CharSet:
    """Code points as inclusive `(low, high)` ranges, sorted and merged. Build with `of`."""

    ranges: tuple[tuple[int, int], ...]

    @staticmethod
    def of(ranges: Iterable[tuple[int, int]]) -> CharSet:
        """Return the set of all code points in any of `ranges` (any order, may overlap)."""
        return CharSet(tuple(_without_surrogates(_merged(ranges))))

    @staticmethod
    def from_chars(chars: Iterable[str]) -> CharSet:
        """Return the set of the given single characters."""
        return CharSet.of((ord(c), ord(c)) for c in chars)

    def __contains__(self, code_point: int) -> bool:
        """Return whether `code_point` is a member."""
        i = bisect_right(self.ranges, (code_point, MAX_CODE_POINT + 1)) - 1
        return i >= 0 and self.ranges[i][0] <= code_point <= self.ranges[i][1]

    def __bool__(self) -> bool:
        """Return whether the set has a member."""
        return bool(self.ranges)

    def __or__(self, other: CharSet) -> CharSet:
        """Return the union."""
        return CharSet.of((*self.ranges, *other.ranges))

    def __and__(self, other: CharSet) -> CharSet:
        """Return the intersection."""
        return CharSet(tuple(_common(self.ranges, other.ranges)))

    def __sub__(self, other: CharSet) -> CharSet:
        """Return the members of this set that are not in `other`."""
        return self & ~other

    def __invert__(self) -> CharSet:
        """Return all scalar values that are not members."""
        return CharSet.of(_gaps(self.ranges))

    def size(self) -> int:
        """Return the number of members."""
        return sum(high - low + 1 for low, high in self.ranges)


def _merged(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    low, high = -2, -2
    for a, b in sorted(ranges):
        if a > b:
            continue
        if a <= high + 1:
            high = max(high, b)
            continue
        if high >= 0:
            yield low, high
        low, high = a, b
    if high >= 0:
        yield low, high


def _without_surrogates(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first, last = _SURROGATES
    for low, high in ranges:
        if high < first or low > last:
            yield low, high
            continue
        if low < first:
            yield low, first - 1
        if high > last:
            yield last + 1, high


def _gaps(ranges: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    at = 0
    for low, high in ranges:
        if at < low:
            yield at, low - 1
        at = high + 1
    if at <= MAX_CODE_POINT:
        yield at, MAX_CODE_POINT


def _common(
    left: tuple[tuple[int, int], ...], right: tuple[tuple[int, int], ...]
) -> Iterator[tuple[int, int]]:
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low <= high:
            yield low, high
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1


ANY = CharSet.of([(0, MAX_CODE_POINT)])
