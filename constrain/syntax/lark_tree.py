"""The tree of a grammar in Lark's EBNF, as the parser reads it. Knows no text and no languages."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Call",
    "Choice",
    "Definition",
    "Import",
    "LarkText",
    "Name",
    "Pattern",
    "Range",
    "Row",
    "Times",
    "Tree",
    "Word",
    "is_terminal",
]


@dataclass(frozen=True, slots=True)
class Name:
    """A rule, a terminal (in capitals) or a parameter of a template."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Call:
    """A use of a template."""

    name: str
    arguments: tuple[Tree, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Word:
    """A string literal: its text, escapes done, and whether case matters."""

    text: str
    ignore_case: bool
    offset: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression and its flags."""

    pattern: str
    flags: str
    offset: int


@dataclass(frozen=True, slots=True)
class Range:
    """`"a".."z"`."""

    low: str
    high: str
    offset: int


@dataclass(frozen=True, slots=True)
class Row:
    """The items in order."""

    items: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of the items."""

    items: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """The item from `least` to `most` times (None: any number)."""

    item: Tree
    least: int
    most: int | None


Tree = Name | Call | Word | Pattern | Range | Row | Choice | Times


@dataclass(frozen=True, slots=True)
class Definition:
    """A rule, a template with `parameters`, or a terminal. `kind` is "", "override" or "extend"."""

    name: str
    parameters: tuple[str, ...]
    body: Tree
    offset: int
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """`%import path.name -> alias`."""

    path: tuple[str, ...]
    name: str
    alias: str
    offset: int


@dataclass(frozen=True, slots=True)
class LarkText:
    """All statements of a grammar, by kind."""

    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...]
    ignored: tuple[Tree, ...]


def is_terminal(name: str) -> bool:
    """Return whether a name is that of a terminal: its first letter is a capital."""
    return name.lstrip("_")[:1].isupper()
