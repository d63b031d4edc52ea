"""Terminals of a Lark grammar to patterns of Python's `re`.

The pattern matters as it is written, since it says which match a lexer prefers: parts in a row are
joined without groups, alternatives are sorted by their width, the widest first, then by the length
of their patterns. Terminals inside terminals are put into their places.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from constrain.errors import RegexError
from constrain.syntax.grammar_source import GrammarSource
from constrain.syntax.lark_tree import (
    Call,
    Choice,
    Name,
    Pattern,
    Range,
    Row,
    Times,
    Tree,
    Word,
)
from constrain.syntax.regex_parser import parse_tree
from constrain.syntax.regex_tree import Concat, Either, Leaf, Loop, Node

__all__ = ["Lookup", "TerminalPattern", "least_width", "terminal_pattern"]

_MAX_LENGTH = 100_000

Lookup = Callable[[Name], "TerminalPattern"]
"""The pattern of a terminal that is named in another."""


@dataclass(frozen=True, slots=True)
class TerminalPattern:
    """A pattern before its flags, and those; `whole` is the pattern with them."""

    value: str
    flags: str
    is_word: bool = False

    @property
    def whole(self) -> str:
        """Return the pattern with its flags inside."""
        text = re.escape(self.value) if self.is_word else self.value
        return f"(?{self.flags}:{text})" if self.flags else text


def terminal_pattern(
    source: GrammarSource, tree: Tree, offset: int, look: Lookup
) -> TerminalPattern:
    """Return the pattern of a terminal defined at `offset`; raises GrammarError."""
    return _Writer(source, offset, look).write(tree)


def least_width(pattern: str) -> float:
    """Return the least characters that a pattern reads; raises RegexError."""
    return _width(parse_tree(pattern, "unicode"))[0]


class _Writer:
    def __init__(self, source: GrammarSource, offset: int, look: Lookup) -> None:
        self._source = source
        self._offset = offset
        self._look = look

    def write(self, tree: Tree) -> TerminalPattern:
        if isinstance(tree, Call):
            fact = f"the template {tree.name!r} cannot stand in a terminal"
            self._source.fail(fact, tree.offset)
        match tree:
            case Name():
                return self._look(tree)
            case Word(text, ignore_case):
                return TerminalPattern(text, "i" if ignore_case else "", is_word=True)
            case Pattern(pattern, flags):
                return TerminalPattern(pattern, flags)
            case Range(low, high):
                return TerminalPattern(f"[{re.escape(low)}-{re.escape(high)}]", "")
            case Row(items):
                return self._checked("".join(self.write(item).whole for item in items))
            case Choice(items):
                return self._choice([self.write(item) for item in items])
            case Times(item, least, most):
                return self._times(self.write(item), least, most)

    def _choice(self, items: list[TerminalPattern]) -> TerminalPattern:
        widths = {item: self._width(item) for item in items}
        items.sort(key=lambda item: (-widths[item][1], -widths[item][0], -len(item.value)))
        return self._checked(f"(?:{'|'.join(item.whole for item in items)})")

    def _times(self, item: TerminalPattern, least: int, most: int | None) -> TerminalPattern:
        signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        count = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
        return self._checked(f"(?:{item.whole}){signs.get((least, most), count)}")

    def _checked(self, pattern: str) -> TerminalPattern:
        if len(pattern) > _MAX_LENGTH:
            self._source.fail("the terminal is too large", self._offset, "use rules instead")
        return TerminalPattern(pattern, "")

    def _width(self, item: TerminalPattern) -> tuple[float, float]:
        if item.is_word:
            return len(item.value), len(item.value)
        try:
            return _width(parse_tree(item.whole, "unicode"))
        except RegexError as error:
            self._source.fail(f"in its pattern: {error.fact}", self._offset, error.remedy)


def _width(node: Node) -> tuple[float, float]:
    """Return the least and the most characters that a pattern reads."""
    match node:
        case Leaf():
            return 1, 1
        case Concat(items):
            widths = [_width(item) for item in items]
            return sum(low for low, _ in widths), sum(high for _, high in widths)
        case Either(items):
            widths = [_width(item) for item in items]
            return min(low for low, _ in widths), max(high for _, high in widths)
        case Loop(item, minimum, maximum):
            low, high = _width(item)
            most = inf if maximum is None else maximum
            return low * minimum, high * most if high and most else 0
        case _:
            return 0, 0
