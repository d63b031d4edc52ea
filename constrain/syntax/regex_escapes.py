r"""The escapes of a regex, `\d`, `\u{..}`, `\p{..}` and the like, as character sets.

Takes a pattern and a place in it, gives the set and the place after. What differs between the two
dialects stands here: the classes, the line terminators and the escapes each refuses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal, NoReturn

from constrain.errors import RegexError
from constrain.syntax.charset import MAX_CODE_POINT, CharSet
from constrain.syntax.unicode_classes import (
    ASCII_DIGIT,
    ASCII_WORD,
    LINE_TERMINATORS,
    NEWLINE,
    ecma_space,
    property_class,
    unicode_digit,
    unicode_space,
    unicode_word,
)

__all__ = ["Dialect", "EscapeReader", "Flags"]

Dialect = Literal["ecma", "unicode"]

_CONTROL = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_OCTAL = re.compile(r"[0-7]{1,3}")
_PROPERTY = re.compile(r"([pP])(?:\{\s*(\^?)([^{}]*)\}|([A-Z]))")
_CODE = re.compile(
    r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|U([0-9a-fA-F]{8})|x\{([0-9a-fA-F]+)\}"
)
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_ASCII_SPACE = CharSet.from_chars(" \t\n\r\f\v")


@dataclass(frozen=True, slots=True)
class Flags:
    """The inline flags in force at a place."""

    ignore_case: bool = False
    multi_line: bool = False
    dot_all: bool = False
    ascii: bool = False

    NAMES: ClassVar[dict[str, str]] = {
        "i": "ignore_case",
        "m": "multi_line",
        "s": "dot_all",
        "a": "ascii",
        "u": "",  # Unicode matching is what both dialects do
    }


class EscapeReader:
    """Reads escapes of one pattern in one dialect."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.pattern = pattern
        self.dialect = dialect
        self._surrogates: dict[int, int] = {}

    def line_terminators(self) -> CharSet:
        """Return the characters that `.` leaves out and at which lines end."""
        return LINE_TERMINATORS if self.dialect == "ecma" else NEWLINE

    def word(self, flags: Flags) -> CharSet:
        r"""Return the set of `\w`."""
        ascii_only = self.dialect == "ecma" or flags.ascii
        return ASCII_WORD if ascii_only else unicode_word()

    def lone_surrogate(self, end: int) -> int | None:
        """Return the surrogate whose escape ended at `end`, if one did."""
        return self._surrogates.get(end)

    def read(self, start: int, flags: Flags, *, in_class: bool) -> tuple[CharSet, int]:
        """Read the escape whose backslash is at `start`; return its set and the place after it."""
        at = start + 1
        letter = self.pattern[at : at + 1]
        if not letter:
            self._fail("the pattern ends in a backslash", start, r"write \\ for a backslash")
        if letter in "dDsSwW":
            return self._class_letter(letter, flags), at + 1
        if letter in _CONTROL:
            return CharSet.from_chars(_CONTROL[letter]), at + 1
        if letter in "pP":
            return self._property(start)
        if letter in "xuU":
            return self._code_point(start)
        if letter == "c" and self.dialect == "ecma":
            return self._control(start)
        if letter.isdigit():
            return self._digit(start, in_class=in_class)
        return self._identity(start, letter, in_class=in_class), at + 1

    def _class_letter(self, letter: str, flags: Flags) -> CharSet:
        ascii_only = self.dialect == "ecma" or flags.ascii
        kind = letter.lower()
        if kind == "d":
            found = ASCII_DIGIT if ascii_only else unicode_digit()
        elif kind == "w":
            found = self.word(flags)
        elif self.dialect == "ecma":
            found = ecma_space()
        else:
            found = _ASCII_SPACE if flags.ascii else unicode_space()
        return ~found if letter.isupper() else found

    def _property(self, start: int) -> tuple[CharSet, int]:
        found = _PROPERTY.match(self.pattern, start + 1)
        if not found:
            self._fail("a property needs a name", start, r"write it as \p{L}")
        kind, caret, name, short = found.groups()
        charset = property_class((name or short).strip())
        if charset is None:
            known = r"use a general category such as \p{L} or \p{Nd}, or spell the ranges out"
            self._fail(f"the Unicode property {name!r} is not supported", start, known)
        negated = (kind == "P") != bool(caret)
        return (~charset if negated else charset), found.end()

    def _code_point(self, start: int) -> tuple[CharSet, int]:
        found = _CODE.match(self.pattern, start + 1)
        if not found:
            self._fail("not a complete code point escape", start, r"write \xHH, \uHHHH or \u{H..}")
        value, end = int(next(g for g in found.groups() if g), 16), found.end()
        if value > MAX_CODE_POINT:
            self._fail("the code point is beyond U+10FFFF", start, "use a smaller one")
        if 0xD800 <= value <= 0xDBFF and found[2]:
            low = _LOW_SURROGATE.match(self.pattern, end)
            if low:
                value = 0x10000 + ((value - 0xD800) << 10) + int(low[1], 16) - 0xDC00
                end = low.end()
        if 0xD800 <= value <= 0xDFFF:
            self._surrogates[end] = value
        return CharSet.of([(value, value)]), end

    def _control(self, start: int) -> tuple[CharSet, int]:
        letter = self.pattern[start + 2 : start + 3]
        if not (letter.isascii() and letter.isalpha()):
            self._fail(r"\c needs a letter", start, r"write \cA to \cZ")
        return CharSet.from_chars(chr(ord(letter) % 32)), start + 3

    def _digit(self, start: int, *, in_class: bool) -> tuple[CharSet, int]:
        octal = _OCTAL.match(self.pattern, start + 1)
        is_octal = octal and (in_class or octal[0].startswith("0") or len(octal[0]) == 3)
        if not octal or not is_octal:
            remedy = "spell the repeated text out, or check it after generation"
            self._fail("back-references are not regular", start, remedy)
        value = int(octal[0], 8)
        return CharSet.of([(value, value)]), octal.end()

    def _identity(self, start: int, letter: str, *, in_class: bool) -> CharSet:
        if letter == "b" and in_class:
            return CharSet.from_chars("\b")
        if letter == "a" and self.dialect == "unicode":
            return CharSet.from_chars("\a")
        if letter == "k":
            self._fail("back-references are not regular", start, "spell the repeated text out")
        if letter.isascii() and letter.isalpha():
            remedy = f"write {letter!r} for the letter itself"
            self._fail(f"the escape \\{letter} is not known", start, remedy)
        return CharSet.from_chars(letter)

    def _fail(self, fact: str, position: int, remedy: str) -> NoReturn:
        raise RegexError(fact, pattern=self.pattern, position=position, remedy=remedy)
