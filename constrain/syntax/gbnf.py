r"""GBNF, the grammars of llama.cpp, to a Grammar: the front end of files with `name ::= ...`.

    root  ::= (expr "=" term "\n")+
    expr  ::= term ([-+*/] term)*      # a comment
    term  ::= [0-9]{1,3} | "(" expr ")"

A rule ends with its line, unless the line ends in `|`, the next begins with one, or a parenthesis
is open. A literal or a class is of characters, `\xe9` too: it is é, not a byte. What names tokens
(`<think>`, `<[1000]>`) is refused, since a text must mean the same under any vocabulary.
"""

from __future__ import annotations

import re
from typing import NoReturn

from constrain.syntax.charset import ANY, CharSet
from constrain.syntax.expr import Chars, Expr, Grammar, Ref, alt, literal, repeat, seq
from constrain.syntax.grammar_source import (
    MAX_NESTING,
    GrammarSource,
    Remark,
    Use,
    check_rules,
)

__all__ = ["read_gbnf"]

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t]|#[^\n]*)*")
_BLANK_LINES = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_LINE_END = re.compile(r"\r?\n|\Z")
_COUNT = re.compile(r"\{\s*([0-9]+)\s*(,?)\s*([0-9]*)\s*\}")
_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_HEX = {"x": 2, "u": 4, "U": 8}
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]"}
_MAX_DIGITS = 9


def read_gbnf(text: str, start: str = "root") -> tuple[Grammar, tuple[Remark, ...]]:
    """Return the grammar, and remarks on what is odd in it; raises GrammarError."""
    reader = _Reader(text)
    reader.read()
    remarks = check_rules(reader.source, reader.rules, reader.offsets, reader.uses, start)
    return Grammar(Ref(start), reader.rules), (*remarks, *reader.lookalikes())


class _Reader:
    def __init__(self, text: str) -> None:
        self.source = GrammarSource(text)
        self.rules: dict[str, Expr] = {}
        self.offsets: dict[str, int] = {}
        self.uses: list[Use] = []
        self._classes: list[Use] = []
        self._text = text
        self._at = 0
        self._rule = ""

    def read(self) -> None:
        self._skip(_BLANK_LINES)
        while self._at < len(self._text):
            self._read_rule()
            self._skip(_BLANK_LINES)

    def lookalikes(self) -> list[Remark]:
        """Return remarks on classes that spell the name of a rule: `[sign]` is s, i, g or n."""
        return [
            self.source.remark(
                use.offset,
                use.name,
                f"[{use.name}] is one of these letters, not an optional {use.name!r}",
            )
            for use in self._classes
            if use.name in self.rules
        ]

    def _read_rule(self) -> None:
        begin, name = self._at, self._name("a rule begins with its name")
        if name in self.rules:
            line, _ = self.source.place(self.offsets[name])
            self._fail(f"the rule {name!r} is defined twice, first in line {line}", begin)
        self._rule = name
        self._skip(_BLANK)
        if not self._text.startswith("::=", self._at):
            self._fail("'::=' must follow the name of a rule", self._at)
        self._at += 3
        self._skip(_BLANK_LINES)
        self.offsets[name] = begin
        self.rules[name] = self._alternatives(0)
        if not _LINE_END.match(self._text, self._at):
            self._fail(f"{self._text[self._at]!r} cannot stand here", self._at)

    def _alternatives(self, depth: int) -> Expr:
        """Read up to the end of the line or, inside a group, to its parenthesis."""
        found = [self._sequence(depth)]
        while self._continues():
            self._at += 1
            self._skip(_BLANK_LINES)
            found.append(self._sequence(depth))
        return alt(*found)

    def _continues(self) -> bool:
        """Return whether a `|` comes next; it may be the first thing on the next line."""
        ahead = _BLANK_LINES.match(self._text, self._at)
        following = ahead.end() if ahead else self._at
        if self._text.startswith("|", following):
            self._at = following
        return self._text.startswith("|", self._at)

    def _sequence(self, depth: int) -> Expr:
        items: list[Expr] = []
        while (item := self._atom(depth)) is not None:
            items.append(self._repeated(item, _BLANK_LINES if depth else _BLANK))
        return seq(*items)

    def _atom(self, depth: int) -> Expr | None:
        char, begin = self._text[self._at : self._at + 1], self._at
        if char == '"':
            return self._literal()
        if char == "[":
            return self._class()
        if char == "(":
            return self._group(depth)
        if char == ".":
            self._at += 1
            return Chars(ANY)
        if char == "<" or self._text.startswith("!<", begin):
            self._fail("tokens cannot be named", begin, "write the text of the token")
        if char in _SIMPLE or char == "{":
            self._fail("there is nothing to repeat", begin, "put an item before it")
        if not _NAME.match(self._text, begin):
            return None
        name = self._name("")
        self.uses.append(Use(name, begin))
        return Ref(name)

    def _group(self, depth: int) -> Expr:
        begin = self._at
        if depth >= MAX_NESTING:
            self._fail(f"groups nest deeper than {MAX_NESTING}", begin, "name some parts as rules")
        self._at += 1
        self._skip(_BLANK_LINES)
        body = self._alternatives(depth + 1)
        self._skip(_BLANK_LINES)
        if not self._text.startswith(")", self._at):
            self._fail("the group is never closed", begin, "add a ')'")
        self._at += 1
        return body

    def _repeated(self, item: Expr, blank: re.Pattern[str]) -> Expr:
        """Apply all the repetitions that follow an item, and skip what is blank after them."""
        while True:
            self._skip(blank)
            char = self._text[self._at : self._at + 1]
            if char and char in _SIMPLE:
                self._at += 1
                item = repeat(item, *_SIMPLE[char])
            elif char == "{":
                item = repeat(item, *self._counts())
            else:
                return item

    def _counts(self) -> tuple[int, int | None]:
        found = _COUNT.match(self._text, self._at)
        if not found:
            self._fail("this is no count", self._at, "write {2}, {2,} or {2,5}")
        if max(len(found[1]), len(found[3])) > _MAX_DIGITS:
            self._fail("the count is too large", self._at)
        least = int(found[1])
        most = int(found[3]) if found[3] else None if found[2] else least
        if most is not None and most < least:
            self._fail(f"the counts {least} to {most} are out of order", self._at, "swap them")
        self._at = found.end()
        return least, most

    def _literal(self) -> Expr:
        begin = self._at
        self._at += 1
        chars: list[str] = []
        while not self._text.startswith('"', self._at):
            chars.append(self._char("literal", begin))
        self._at += 1
        return literal("".join(chars))

    def _class(self) -> Expr:
        begin = self._at
        self._at += 1
        negated = self._text.startswith("^", self._at)
        self._at += negated
        ranges: list[tuple[int, int]] = []
        while not self._text.startswith("]", self._at):
            ranges.append(self._range(begin))
        if not ranges:
            self._fail("the class is empty", begin, r"write . for any character, \] for a bracket")
        self._classes.append(Use(self._text[begin + 1 : self._at], begin))
        self._at += 1
        charset = CharSet.of(ranges)
        return Chars(~charset if negated else charset)

    def _range(self, begin: int) -> tuple[int, int]:
        first = self._at
        low = high = ord(self._char("class", begin))
        is_range = self._text.startswith("-", self._at)
        if is_range and not self._text.startswith("]", self._at + 1):
            self._at += 1
            high = ord(self._char("class", begin))
        if low > high:
            self._fail("the range is out of order", first, "swap its ends")
        return low, high

    def _char(self, what: str, begin: int) -> str:
        """Read one character of a literal or class that began at `begin`."""
        char = self._text[self._at : self._at + 1]
        if not char or char == "\n":
            closing = '"' if what == "literal" else "]"
            self._fail(
                f"the {what} is never closed", begin, f"add a {closing} before the line ends"
            )
        if char != "\\":
            self._at += 1
            return char
        kind = self._text[self._at + 1 : self._at + 2]
        if kind in _HEX:
            return self._code_point(_HEX[kind])
        if kind not in _ESCAPES or not kind:
            self._fail(f"the escape \\{kind} is not known", self._at, r"write \\ for a backslash")
        self._at += 2
        return _ESCAPES[kind]

    def _code_point(self, digits: int) -> str:
        written = self._text[self._at + 2 : self._at + 2 + digits]
        if len(written) < digits or not re.fullmatch("[0-9A-Fa-f]*", written):
            self._fail(f"{digits} hexadecimal digits must follow", self._at)
        code = int(written, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            self._fail(f"there is no character {code:#x}", self._at)
        self._at += 2 + digits
        return chr(code)

    def _name(self, fact: str) -> str:
        found = _NAME.match(self._text, self._at)
        if not found:
            self._fail(fact, self._at, "write NAME ::= ...")
        self._at = found.end()
        return found[0]

    def _skip(self, blank: re.Pattern[str]) -> None:
        found = blank.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _fail(self, fact: str, offset: int, remedy: str = "") -> NoReturn:
        self.source.fail(fact, offset, remedy)
