"""The text of a grammar, and how its faults and oddities are shown: by line and column.

Shared by the readers of all grammar formats. Positions inside are offsets into the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from constrain.errors import GrammarError
from constrain.syntax.expr import Expr
from constrain.syntax.rules import productive_rules, reachable_rules

__all__ = ["MAX_NESTING", "GrammarSource", "Remark", "Use", "check_rules"]

MAX_NESTING = 60
"""Groups may nest this deep; written grammars stay under ten."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd about a rule that is no error, at a line and column from 1."""

    line: int
    column: int
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """A reference to a rule, at an offset."""

    name: str
    offset: int


class GrammarSource:
    """A text that can say where an offset is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def place(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of an offset, both from 1."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def remark(self, offset: int, rule: str, text: str) -> Remark:
        """Return a remark about what stands at `offset`."""
        return Remark(*self.place(offset), rule, text)

    def fail(self, fact: str, offset: int, remedy: str = "") -> NoReturn:
        """Raise GrammarError at `offset`."""
        line, column = self.place(offset)
        shown = self.text.split("\n")[line - 1].rstrip("\r")
        raise GrammarError(fact, line=line, column=column, shown=shown, remedy=remedy)


def check_rules(
    source: GrammarSource,
    rules: Mapping[str, Expr],
    offsets: Mapping[str, int],
    uses: Sequence[Use],
    start: str,
) -> tuple[Remark, ...]:
    """Return remarks on rules that are never used or have no text.

    `offsets` says where each rule is defined. Raises GrammarError for a name without a rule, and
    when `start` has no text.
    """
    for use in uses:
        if use.name not in rules:
            source.fail(f"there is no rule {use.name!r}", use.offset, _nearest(use.name, rules))
    if start not in rules:
        source.fail(f"there is no rule {start!r}, where texts start", 0, f"write a rule {start!r}")
    productive = productive_rules(rules)
    if start not in productive:
        fact = f"the rule {start!r} has no text: it can never end"
        source.fail(fact, offsets[start], "give an alternative without recursion")
    reached = reachable_rules([start], rules)
    return tuple(
        source.remark(
            offsets[name],
            name,
            f"the rule {name!r} is never used"
            if name not in reached
            else f"the rule {name!r} has no text: it can never end",
        )
        for name in offsets
        if name not in reached or name not in productive
    )


def _nearest(name: str, rules: Mapping[str, Expr]) -> str:
    alike = [known for known in rules if known.lower() == name.lower()]
    return f"did you mean {alike[0]!r}?" if alike else "define it, or correct the name"
