"""The tree of a regular expression, as the parser reads it and the lowering takes it.

Only what changes the language is kept: groups and names are gone, flags are already
applied to the character sets. Knows neither text syntax nor Expr.
"""

from __future__ import annotations

from dataclasses import dataclass

from constrain.syntax.charset import CharSet

__all__ = ["Boundary", "Concat", "Edge", "Either", "Leaf", "Look", "Loop", "Node"]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One character of a set."""

    charset: CharSet


@dataclass(frozen=True, slots=True, eq=False)
class Concat:
    """The items in order; none is the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """Any one of the items."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """The item from `minimum` to `maximum` times (None: any number); read at `position`.

    `lazy`: as few times as will do, which changes no language, only which match a search prefers.
    """

    item: Node
    minimum: int
    maximum: int | None
    position: int
    lazy: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A lookahead or lookbehind: the item matches (or does not) next to this place."""

    item: Node
    behind: bool
    negated: bool
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """An anchor: the text (or, with `line`, a line) starts or ends here.

    `line` holds the line terminators of the dialect, or None for an edge of the whole text.
    """

    end: bool
    line: CharSet | None


@dataclass(frozen=True, slots=True, eq=False)
class Boundary:
    """A place between a character of `word` and one outside it or an end; or any other place."""

    word: CharSet
    negated: bool


Node = Leaf | Concat | Either | Loop | Look | Edge | Boundary
