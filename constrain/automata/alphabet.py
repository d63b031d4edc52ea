"""How a character is written in bytes: UTF-8, plainly or inside a JSON string.

Takes a CharSet, gives byte-range sequences; knows no states. The splitting of code point ranges
into sequences of byte ranges follows RFC 3629 section 4 (the idea: Russ Cox, "Regular Expression
Matching in the Wild", 2010).
"""

from __future__ import annotations

from functools import lru_cache

from constrain.syntax.charset import CharSet

__all__ = ["ByteSequence", "json_spellings", "plain_spellings"]

ByteSequence = tuple[tuple[int, int], ...]
"""One or more byte ranges (low, high), to be read one after another."""

_BANDS = ((0x0, 0x7F, 1), (0x80, 0x7FF, 2), (0x800, 0xFFFF, 3), (0x10000, 0x10FFFF, 4))
_LEAD = {1: 0x00, 2: 0xC0, 3: 0xE0, 4: 0xF0}
_SHORT_ESCAPES = {0x22: '"', 0x5C: "\\", 0x08: "b", 0x0C: "f", 0x0A: "n", 0x0D: "r", 0x09: "t"}
_ESCAPED = CharSet.of([(0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])


@lru_cache(maxsize=4096)
def plain_spellings(charset: CharSet) -> tuple[ByteSequence, ...]:
    """Return the UTF-8 encodings of the members, as few byte-range sequences as they split into."""
    found: list[ByteSequence] = []
    for low, high in charset.ranges:
        for first, last, length in _BANDS:
            a, b = max(low, first), min(high, last)
            if a <= b:
                found.extend(_split(a, b, length))
    return tuple(found)


@lru_cache(maxsize=4096)
def json_spellings(charset: CharSet) -> tuple[ByteSequence, ...]:
    r"""Return how the members are spelled between the quotes of a JSON string (RFC 8259 section 7).

    Raw UTF-8 where that is allowed; else the short escape; else `\u00XX` with hex digits of either
    case. No other spelling: one text for one value keeps lengths and set algebra exact.
    """
    return plain_spellings(charset - _ESCAPED) + tuple(_escapes(charset & _ESCAPED))


def _escapes(charset: CharSet) -> list[ByteSequence]:
    """Return the escapes of the members, those that differ in one last byte range put together."""
    lasts: dict[bytes, list[tuple[int, int]]] = {}
    for code_point in (c for low, high in charset.ranges for c in range(low, high + 1)):
        short = _SHORT_ESCAPES.get(code_point)
        digits = f"\\u{code_point:04x}"
        for text in {"\\" + short} if short else {digits, digits[:-1] + digits[-1].upper()}:
            head, last = text[:-1].encode(), ord(text[-1])
            lasts.setdefault(head, []).append((last, last))
    return [
        (*((b, b) for b in head), last)
        for head, ends in lasts.items()
        for last in CharSet.of(ends).ranges
    ]


def _split(low: int, high: int, length: int) -> list[ByteSequence]:
    """Split one range, all of whose members encode to `length` bytes."""
    if length == 1:
        return [((low, high),)]
    for shift in range(6, 6 * length, 6):
        block = (1 << shift) - 1
        if low | block == high | block:
            break
        if low & block:
            return _split(low, low | block, length) + _split((low | block) + 1, high, length)
        if high & block != block:
            cut = high & ~block
            return _split(low, cut - 1, length) + _split(cut, high, length)
    return [tuple(zip(_encode(low, length), _encode(high, length), strict=True))]


def _encode(code_point: int, length: int) -> list[int]:
    tail = [0x80 | (code_point >> shift) & 0x3F for shift in range(6 * (length - 2), -1, -6)]
    return [_LEAD[length] | code_point >> 6 * (length - 1), *tail]
