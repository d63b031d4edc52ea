"""Character classes and properties by name, and case folding, as CharSets.

Takes class letters, property names and sets; gives CharSets from the interpreter's own
`unicodedata`. Knows no regex syntax. The tables that need a scan of all code points are built
on first use and kept; ASCII-only patterns never trigger one.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from typing import TypeVar

from constrain.syntax.charset import ANY, CharSet

__all__ = [
    "ASCII_DIGIT",
    "ASCII_WORD",
    "LINE_TERMINATORS",
    "NEWLINE",
    "case_closed",
    "ecma_space",
    "property_class",
    "unicode_digit",
    "unicode_space",
    "unicode_word",
]

ASCII_DIGIT = CharSet.of([(0x30, 0x39)])
ASCII_WORD = CharSet.of([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
NEWLINE = CharSet.from_chars("\n")
LINE_TERMINATORS = CharSet.from_chars("\n\r\u2028\u2029")

_T = TypeVar("_T")
_LAST_CASED = 0x1E943  # no character above folds to another one
_LONG_CATEGORIES = {
    "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Unassigned": "Cn",
    "Private_Use": "Co", "Surrogate": "Cs",
    "Letter": "L", "Cased_Letter": "LC", "Lowercase_Letter": "Ll", "Modifier_Letter": "Lm",
    "Other_Letter": "Lo", "Titlecase_Letter": "Lt", "Uppercase_Letter": "Lu",
    "Mark": "M", "Combining_Mark": "M", "Spacing_Mark": "Mc", "Enclosing_Mark": "Me",
    "Nonspacing_Mark": "Mn",
    "Number": "N", "Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd",
    "Close_Punctuation": "Pe", "Final_Punctuation": "Pf", "Initial_Punctuation": "Pi",
    "Other_Punctuation": "Po", "Open_Punctuation": "Ps",
    "Symbol": "S", "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Math_Symbol": "Sm",
    "Other_Symbol": "So",
    "Separator": "Z", "Line_Separator": "Zl", "Paragraph_Separator": "Zp",
    "Space_Separator": "Zs",
}  # fmt: skip
_CASED = ("Ll", "Lt", "Lu")


def ecma_space() -> CharSet:
    r"""Return what `\s` means in ECMA-262: WhiteSpace and LineTerminator."""
    fixed = [(0x9, 0xD), (0x20, 0x20), (0xA0, 0xA0), (0xFEFF, 0xFEFF)]
    separators = [(0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F)]
    return CharSet.of([*fixed, *separators, (0x205F, 0x205F), (0x3000, 0x3000)])


@cache
def unicode_space() -> CharSet:
    """Return the characters for which `str.isspace` holds."""
    return _where(str.isspace)


@cache
def unicode_word() -> CharSet:
    """Return the characters for which `str.isalnum` holds, and the underscore."""
    return _where(str.isalnum) | CharSet.from_chars("_")


def unicode_digit() -> CharSet:
    """Return the decimal digits, category Nd."""
    return _categories()["Nd"]


def property_class(name: str) -> CharSet | None:
    r"""Return the set that `\p{name}` denotes; None for a property that is not known here.

    Known are the general categories by short and long name, alone or as `General_Category=` or
    `gc=`, and `Any`, `Assigned` and `ASCII`.
    """
    key, _, value = name.rpartition("=")
    if key not in {"", "General_Category", "gc"}:
        return None
    if not key and value in {"Any", "Assigned", "ASCII"}:
        return _special(value)
    return _category(_LONG_CATEGORIES.get(value, value))


def case_closed(charset: CharSet) -> CharSet:
    """Return the set and every character that equals a member under simple case folding."""
    added = [
        (ord(char), ord(char))
        for group in _fold_groups()
        if any(ord(char) in charset for char in group)
        for char in group
    ]
    return CharSet.of([*charset.ranges, *added]) if added else charset


def _special(name: str) -> CharSet:
    if name == "Any":
        return ANY
    return CharSet.of([(0, 0x7F)]) if name == "ASCII" else ~_categories()["Cn"]


def _category(short: str) -> CharSet | None:
    table = _categories()
    if short == "Cs":
        return CharSet(())
    names = _CASED if short in {"LC", "L&"} else [n for n in table if n.startswith(short)]
    if not short or len(short) > 2 or not names:
        return None
    return CharSet.of(pair for name in names for pair in table[name].ranges)


@cache
def _categories() -> dict[str, CharSet]:
    found: dict[str, list[tuple[int, int]]] = {}
    for name, low, high in _runs(unicodedata.category):
        found.setdefault(name, []).append((low, high))
    return {name: CharSet.of(ranges) for name, ranges in sorted(found.items())}


def _where(test: Callable[[str], bool]) -> CharSet:
    return CharSet.of((low, high) for holds, low, high in _runs(test) if holds)


def _runs(function: Callable[[str], _T]) -> Iterator[tuple[_T, int, int]]:
    """Yield `(value, low, high)` for each run of code points with one value."""
    values = map(function, map(chr, range(sys.maxunicode + 1)))
    low = 0
    for value, run in groupby(values):
        high = low + sum(1 for _ in run) - 1
        yield value, low, high
        low = high + 1


@cache
def _fold_groups() -> tuple[tuple[str, ...], ...]:
    groups: dict[str, list[str]] = {}
    for char in map(chr, range(_LAST_CASED + 1)):
        groups.setdefault(_simple_fold(char), []).append(char)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _simple_fold(char: str) -> str:
    """Return the simple case folding: full folding where it is one character, else lower case."""
    folded = char.casefold()
    if len(folded) == 1:
        return folded
    lowered = char.lower()
    return lowered if len(lowered) == 1 else char
