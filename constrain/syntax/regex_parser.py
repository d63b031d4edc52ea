r"""Regex text to tree, in two dialects.

`ecma`: ECMA-262 patterns as JSON Schema uses them, read leniently (annex B): a needless escape of
punctuation and a stray `]`, `{` or `}` are literals. `unicode`: what Python's `re` reads. Both
know `\p{..}`, named groups, inline flags i, m, s and lookaround. Whatever is not a regular
language (back-references, recursion) or depends on the order of a search (atomic groups,
possessive quantifiers) is refused with its column. Knows no Expr: `regex_lowering` reads the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn

from constrain.errors import RegexError
from constrain.syntax.charset import ANY, CharSet
from constrain.syntax.regex_escapes import Dialect, EscapeReader, Flags
from constrain.syntax.regex_tree import (
    Boundary,
    Concat,
    Edge,
    Either,
    Leaf,
    Look,
    Loop,
    Node,
)
from constrain.syntax.unicode_classes import case_closed

__all__ = ["MAX_NESTING", "Dialect", "parse_tree"]

MAX_NESTING = 100
"""Groups may nest this deep; written patterns stay under ten."""

_COUNT = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_FLAGS = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME = re.compile(r"\?P?<([^\W\d][\w$]*)>")
_LOOKS = {"?=": (False, False), "?!": (False, True), "?<=": (True, False), "?<!": (True, True)}
_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_MAX_COUNT = 10_000_000
_MAX_DIGITS = len(str(_MAX_COUNT))


@dataclass(slots=True)
class _Group:
    """A group that is still open: what stands in it so far, and how it is to be closed."""

    position: int
    flags: Flags
    look: tuple[bool, bool] | None = None
    done: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    def alternative(self) -> None:
        self.done.append(_concat(self.items))
        self.items = []

    def close(self) -> Node:
        self.alternative()
        node = self.done[0] if len(self.done) == 1 else Either(tuple(self.done))
        if self.look is None:
            return node
        behind, negated = self.look
        return Look(node, behind, negated, self.position)


def parse_tree(pattern: str, dialect: Dialect) -> Node:
    """Return the tree of `pattern`; raises RegexError with the column of the fault."""
    return _Parser(pattern, dialect).parse()


class _Parser:
    """One pass from left to right; open groups are kept on a list, so nothing recurses."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.pattern = pattern
        self.dialect: Literal["ecma", "unicode"] = dialect
        self.at = 0
        self.open = [_Group(0, Flags())]
        self.escapes = EscapeReader(pattern, dialect)

    def parse(self) -> Node:
        while self.at < len(self.pattern):
            self._step(self.pattern[self.at])
        if len(self.open) > 1:
            self._fail("the group is never closed", self.open[-1].position, "add a ')'")
        return self.open[0].close()

    def _step(self, char: str) -> None:
        top = self.open[-1]
        if char in "*+?" or (char == "{" and self._counts() is not None):
            self._quantifier()
        elif char == "(":
            self._open_group()
        elif char == ")":
            self._close_group()
        elif char == "|":
            top.alternative()
            self.at += 1
        elif char == "[":
            top.items.append(self._leaf(self._class()))
        elif char == "\\":
            self._escape()
        else:
            top.items.append(self._plain(char))
            self.at += 1

    def _plain(self, char: str) -> Node:
        flags = self.open[-1].flags
        line = self.escapes.line_terminators() if flags.multi_line else None
        if char == "^":
            return Edge(end=False, line=line)
        if char == "$":
            return Edge(end=True, line=line)
        if char == ".":
            return Leaf(ANY if flags.dot_all else ~self.escapes.line_terminators())
        return self._leaf(CharSet.from_chars(char))

    def _leaf(self, charset: CharSet) -> Leaf:
        return Leaf(case_closed(charset) if self.open[-1].flags.ignore_case else charset)

    # ------------------------------------------------------------------ groups

    def _open_group(self) -> None:
        start, flags = self.at, self.open[-1].flags
        if len(self.open) > MAX_NESTING:
            self._fail(f"groups nest deeper than {MAX_NESTING}", start, "flatten the pattern")
        self.at += 1
        if not self.pattern.startswith("?", self.at):
            self.open.append(_Group(start, flags))
            return
        for head, look in _LOOKS.items():
            if self.pattern.startswith(head, self.at):
                self.at += len(head)
                self.open.append(_Group(start, flags, look))
                return
        named = _NAME.match(self.pattern, self.at)
        if named:
            self.at = named.end()
            self.open.append(_Group(start, flags))
            return
        self._flag_group(start)

    def _flag_group(self, start: int) -> None:
        if self.pattern.startswith("?#", self.at) and self.dialect == "unicode":
            end = self.pattern.find(")", self.at)
            self.at = len(self.pattern) if end < 0 else end + 1
            return
        found = _FLAGS.match(self.pattern, self.at)
        if not found:
            self._refuse_group(start)
        flags = self._changed_flags(found[1], found[2] or "", start)
        self.at = found.end()
        if found[3] == ":":
            self.open.append(_Group(start, flags))
        else:
            self.open[-1].flags = flags

    def _changed_flags(self, switched_on: str, switched_off: str, start: int) -> Flags:
        flags = self.open[-1].flags
        for letters, value in ((switched_on, True), (switched_off, False)):
            for letter in letters:
                name = Flags.NAMES.get(letter)
                if name is None:
                    self._fail(f"the flag {letter!r} is not supported", start, "use i, m or s")
                flags = replace(flags, **{name: value}) if name else flags
        return flags

    def _refuse_group(self, start: int) -> NoReturn:
        kinds = {
            "?>": ("atomic groups are not supported", "write (?:...) instead of (?>...)"),
            "?P=": ("back-references are not regular", "spell the alternatives out"),
            "?(": ("conditional groups are not supported", "spell the alternatives out"),
        }
        for head, (fact, remedy) in kinds.items():
            if self.pattern.startswith(head, self.at):
                self._fail(fact, start, remedy)
        self._fail("this kind of group is not known", start, "write (?:...) for a plain group")

    def _close_group(self) -> None:
        if len(self.open) == 1:
            self._fail("nothing is open here", self.at, r"write \) for a parenthesis")
        node = self.open.pop().close()
        self.open[-1].items.append(node)
        self.at += 1

    # ------------------------------------------------------------------ quantifiers

    def _counts(self) -> tuple[int, int | None] | None:
        """Return the interval of the `{m,n}` here, or None when the brace is a literal."""
        found = _COUNT.match(self.pattern, self.at)
        if not found:
            return None
        low, comma, high = found.groups()
        if max(len(low), len(high)) > _MAX_DIGITS:
            self._fail("the count is too large", self.at, f"stay under {_MAX_COUNT:,}")
        if not low and (self.dialect == "ecma" or not comma):
            return None
        least = int(low or 0)
        return least, (int(high) if high else None) if comma else least

    def _quantifier(self) -> None:
        start, char = self.at, self.pattern[self.at]
        counts = self._counts() if char == "{" else _SIMPLE[char]
        items = self.open[-1].items
        if counts is None or not items or isinstance(items[-1], Edge | Boundary):
            self._fail("there is nothing to repeat", start, rf"write \{char} for the character")
        self.at = self.pattern.index("}", start) + 1 if char == "{" else start + 1
        self._check_counts(counts, start)
        lazy = self._quantifier_suffix()
        items[-1] = Loop(items[-1], counts[0], counts[1], start, lazy)

    def _check_counts(self, counts: tuple[int, int | None], start: int) -> None:
        least, most = counts
        if most is not None and most < least:
            self._fail(f"the counts {least} to {most} are out of order", start, "swap them")
        if max(least, most or 0) > _MAX_COUNT:
            self._fail("the count is too large", start, f"stay under {_MAX_COUNT:,}")

    def _quantifier_suffix(self) -> bool:
        """Skip what follows a quantifier; return whether it makes it lazy."""
        suffix = self.pattern[self.at : self.at + 1]
        if suffix == "?":
            self.at += 1
            return True
        if suffix == "+":
            self._fail("possessive quantifiers are not supported", self.at, "drop the '+'")
        if suffix == "*" or (suffix == "{" and self._counts() is not None):
            self._fail("a quantifier follows a quantifier", self.at, "put a group around the first")
        return False

    # ------------------------------------------------------------------ escapes and classes

    def _escape(self) -> None:
        items, start = self.open[-1].items, self.at
        letter = self.pattern[start + 1 : start + 2]
        if letter in {"b", "B"}:
            word = self.escapes.word(self.open[-1].flags)
            items.append(Boundary(word, negated=letter == "B"))
        elif letter in {"A", "Z", "z"}:
            items.append(Edge(end=letter != "A", line=None))
        else:
            charset, self.at = self.escapes.read(start, self.open[-1].flags, in_class=False)
            items.append(self._leaf(charset))
            return
        self.at = start + 2

    def _class(self) -> CharSet:
        """Read `[...]`; the case is closed before a negation, as both dialects do."""
        start, flags = self.at, self.open[-1].flags
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        found = CharSet(())
        first = self.dialect == "unicode"  # there, a leading ']' is a member
        while first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                self._fail("the class is never closed", start, "add a ']'")
            found |= self._class_item(flags)
            first = False
        self.at += 1
        found = case_closed(found) if flags.ignore_case else found
        return ~found if negated else found

    def _class_item(self, flags: Flags) -> CharSet:
        start = self.at
        low = self._class_atom(flags)
        if self.pattern[self.at : self.at + 1] != "-" or self.at + 1 >= len(self.pattern):
            return low
        if self.pattern[self.at + 1] == "]":
            return low
        dash = self.at
        self.at += 1
        high = self._class_atom(flags)
        if low.size() != 1 or high.size() != 1:
            return self._not_a_range(low, high, dash)
        (a, _), (b, _) = low.ranges[0], high.ranges[0]
        if a > b:
            self._fail("the range is out of order", start, "swap its ends")
        return CharSet.of([(a, b)])

    def _not_a_range(self, low: CharSet, high: CharSet, dash: int) -> CharSet:
        r"""Return what `\w-.` means: a class beside the dash makes it a literal (annex B).

        A lone surrogate at an end makes the range hold the scalar values between.
        """
        lows, highs = (self.escapes.lone_surrogate(i) for i in (dash, self.at))
        if lows is None and highs is None:
            return low | high | CharSet.from_chars("-")
        a = lows if lows is not None else min((r[0] for r in low.ranges), default=0)
        b = highs if highs is not None else max((r[1] for r in high.ranges), default=0)
        if a > b:
            self._fail("the range is out of order", dash, "swap its ends")
        return CharSet.of([(a, b)])

    def _class_atom(self, flags: Flags) -> CharSet:
        char = self.pattern[self.at]
        if char == "\\":
            charset, self.at = self.escapes.read(self.at, flags, in_class=True)
            return charset
        self.at += 1
        return CharSet.from_chars(char)

    def _fail(self, fact: str, position: int, remedy: str) -> NoReturn:
        raise RegexError(fact, pattern=self.pattern, position=position, remedy=remedy)


def _concat(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else Concat(tuple(items))
