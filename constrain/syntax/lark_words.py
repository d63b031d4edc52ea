r"""The words of a grammar in Lark's EBNF, and what its literals say.

A newline ends a statement, unless the next line begins with `|` or a parenthesis is open; then no
word is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from constrain.syntax.grammar_source import GrammarSource
from constrain.syntax.lark_tree import Pattern, Word

__all__ = ["Token", "pattern_of", "tokens", "word_of"]

_TOKEN = re.compile(
    r"""
      (?P<blank>(?:[ \t\f]|\\[ ]*\r?\n|//[^\n]*|\#[^\n]*)+)
    | (?P<newline>(?:\r?\n[ \t\f\r\n]*))
    | (?P<rule>_*[a-z][_a-z0-9]*)
    | (?P<terminal>_*[A-Z][_A-Z0-9]*)
    | (?P<string>"(?:\\.|[^"\\\n])*"i?)
    | (?P<regexp>/(?:\\.|[^/\\])+/[imslux]*)
    | (?P<number>[+-]?[0-9]+)
    | (?P<statement>%[a-z]+)
    | (?P<sign>->|\.\.|[][(){}|:.,~+*?!])
    """,
    re.VERBOSE | re.DOTALL,
)
_BEFORE_BAR = re.compile(r"(?:[ \t\f\r\n]|//[^\n]*|#[^\n]*)*\|")
_HEX = {"x": 2, "u": 4, "U": 8}
_CONTROLS = {"n": "\n", "t": "\t", "f": "\f", "r": "\r"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """A word: its kind, its text (a sign is its own kind), where it begins and ends."""

    kind: str
    text: str
    offset: int
    end: int


def tokens(source: GrammarSource) -> Iterator[Token]:
    """Yield the words of a grammar, then one of kind "end"; raises GrammarError."""
    at, depth, text = 0, 0, source.text
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            source.fail(_odd(text[at]), at)
        kind, start, at = str(found.lastgroup), at, found.end()
        if kind == "blank" or (kind == "newline" and (depth or _BEFORE_BAR.match(text, start))):
            continue
        if kind == "sign":
            kind = found[0]
            depth = max(0, depth + (kind in "([{") - (kind in ")]}"))
        yield Token(kind, found[0], start, at)
    yield Token("newline", "", len(text), len(text))
    yield Token("end", "", len(text), len(text))


def _odd(char: str) -> str:
    if char in {'"', "/"}:
        return f"the literal that begins with {char} is never closed"
    return f"{char!r} means nothing here"


def word_of(source: GrammarSource, token: Token) -> Word:
    """Return what a string literal says."""
    ignore_case = token.text.endswith("i")
    written = token.text[1 : -2 if ignore_case else -1]
    text = _unescaped(source, written, token.offset + 1).replace("\\\\", "\\")
    if not text:
        source.fail("a literal cannot be empty", token.offset, "write [x] or x? for what may miss")
    return Word(text, ignore_case, token.offset)


def pattern_of(source: GrammarSource, token: Token) -> Pattern:
    """Return what a regular expression says."""
    end = token.text.rindex("/")
    flags = "".join(sorted(set(token.text[end + 1 :])))
    if "l" in flags:
        source.fail("the flag 'l' (locale) is not supported", token.offset, "drop it")
    if "\n" in token.text and "x" not in flags:
        source.fail("a pattern cannot go over lines", token.offset, "add the flag x, or write \\n")
    pattern = _unescaped(source, token.text[1:end], token.offset + 1)
    if "x" in flags:
        pattern = _condensed(pattern)
    return Pattern(pattern, flags.replace("x", "").replace("u", ""), token.offset)


def _unescaped(source: GrammarSource, written: str, offset: int) -> str:
    r"""Return the text with the escapes of Lark done: \n, \xHH and the like; others stay."""
    parts: list[str] = []
    at = 0
    while at < len(written):
        char = written[at]
        if char != "\\":
            parts.append(char)
            at += 1
            continue
        kind = written[at + 1]
        width = 2 + _HEX.get(kind, 0)
        if kind in _HEX:
            parts.append(_code_point(source, written[at + 2 : at + width], kind, offset + at))
        elif kind == '"':
            parts.append('"')
        else:
            parts.append(_CONTROLS.get(kind, char + kind))
        at += width
    return "".join(parts)


def _code_point(source: GrammarSource, digits: str, kind: str, offset: int) -> str:
    if len(digits) < _HEX[kind] or not re.fullmatch("[0-9A-Fa-f]+", digits):
        source.fail(f"{_HEX[kind]} hexadecimal digits must follow \\{kind}", offset)
    code = int(digits, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        source.fail(f"there is no character {code:#x}", offset)
    return chr(code)


def _condensed(pattern: str) -> str:
    """Return a verbose pattern without its blanks and comments."""
    found = re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|#[^\n]*|\s+|.", pattern, re.DOTALL)
    return "".join(part for part in found if part[0] != "#" and not part.isspace())
