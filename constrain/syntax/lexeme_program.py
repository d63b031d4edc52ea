"""Regex tree to a program of a backtracking matcher: instructions whose order is preference.

A lexer that calls `re.match` takes the match that a backtracking search finds first, not the
longest. So the alternatives of a `Split` are in the order in which they are tried, greedy loops
first into the loop, lazy ones first out of it (Cox, "Regular Expression Matching: the Virtual
Machine Approach", 2009). What looks at the text before a lexeme, or at the end of the whole
text, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from constrain.errors import RegexError
from constrain.syntax.charset import CharSet
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

__all__ = ["Ahead", "Behind", "Char", "Instruction", "Match", "Program", "Split", "program"]

_MAX_INSTRUCTIONS = 20_000


@dataclass(frozen=True, slots=True)
class Char:
    """Read a character of the set, go on at `then`."""

    charset: CharSet
    then: int


@dataclass(frozen=True, slots=True)
class Split:
    """Go on at each of these, the preferred first."""

    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ahead:
    """Go on at `then` if what is read next does (or does not) begin with a match from `body`."""

    body: int
    negated: bool
    then: int


@dataclass(frozen=True, slots=True)
class Behind:
    """Go on at `then` if what was read last is (or is not) one of `texts`, sets of characters."""

    texts: tuple[tuple[CharSet, ...], ...]
    negated: bool
    then: int


@dataclass(frozen=True, slots=True)
class Match:
    """The end, of the whole or of what an `Ahead` looks for."""


Instruction = Char | Split | Ahead | Behind | Match


@dataclass(frozen=True, slots=True)
class Program:
    """Instructions by number, the first at `start`; `behind` is the most that a Behind looks at."""

    instructions: tuple[Instruction, ...]
    start: int
    behind: int


def program(tree: Node, pattern: str) -> Program:
    """Return the program of a tree; raises RegexError for what cannot be told inside a lexeme."""
    writer = _Writer(pattern)
    start = writer.write(tree, writer.add(Match()))
    behinds = [len(t) for i in writer.code if isinstance(i, Behind) for t in i.texts]
    return Program(tuple(writer.code), start, max(behinds, default=0))


class _Writer:
    """Writes backwards: what follows is known first."""

    def __init__(self, pattern: str) -> None:
        self.code: list[Instruction] = []
        self._pattern = pattern
        self._inside = False

    def add(self, instruction: Instruction) -> int:
        if len(self.code) >= _MAX_INSTRUCTIONS:
            self._fail("the pattern is too large for a terminal", 0, "count less, or use rules")
        self.code.append(instruction)
        return len(self.code) - 1

    def write(self, node: Node, then: int) -> int:
        match node:
            case Leaf(charset):
                return self.add(Char(charset, then))
            case Concat(items):
                for item in reversed(items):
                    then = self.write(item, then)
                return then
            case Either(items):
                return self.add(Split(tuple(self.write(item, then) for item in items)))
            case Loop():
                return self._loop(node, then)
            case Look():
                return self._look(node, then)
            case Edge(end, line):
                return self._edge(line, then, end=end)
            case Boundary(word, negated):
                return self._boundary(word, then, negated=negated)

    def _loop(self, loop: Loop, then: int) -> int:
        if loop.maximum is None:
            head = self.add(Match())  # a place for the Split, whose target is written after it
            body = self.write(loop.item, head)
            self.code[head] = self._choice(body, then, lazy=loop.lazy)
            entry = head
        else:
            entry = then
            for _ in range(loop.maximum - loop.minimum):
                entry = self.add(self._choice(self.write(loop.item, entry), then, lazy=loop.lazy))
        for _ in range(loop.minimum):
            entry = self.write(loop.item, entry)
        return entry

    def _choice(self, body: int, then: int, *, lazy: bool) -> Split:
        return Split((then, body) if lazy else (body, then))

    def _look(self, look: Look, then: int) -> int:
        if look.behind:
            texts = tuple(self._fixed(look.item, look.position))
            return self.add(Behind(texts, look.negated, then))
        if self._inside:
            self._fail("a lookahead stands inside another", look.position, "write them in a row")
        self._inside = True
        body = self.write(look.item, self.add(Match()))
        self._inside = False
        return self.add(Ahead(body, look.negated, then))

    def _fixed(self, node: Node, position: int) -> Iterator[tuple[CharSet, ...]]:
        """Yield the texts of a lookbehind, each a sequence of sets."""
        match node:
            case Leaf(charset):
                yield (charset,)
            case Either(items):
                for item in items:
                    yield from self._fixed(item, position)
            case Concat(items):
                texts: list[tuple[CharSet, ...]] = [()]
                for item in items:
                    ends = list(self._fixed(item, position))
                    texts = [text + end for text in texts for end in ends]
                yield from texts
            case _:
                self._fail("this lookbehind is too wide for a terminal", position, "use characters")

    def _edge(self, line: CharSet | None, then: int, *, end: bool) -> int:
        if not end or line is None:
            fact = "a terminal cannot see where the whole text begins or ends"
            self._fail(fact, 0, "drop the anchor")
        other = self.add(Char(~line, self.add(Match())))
        return self.add(Ahead(other, negated=True, then=then))

    def _boundary(self, word: CharSet, then: int, *, negated: bool) -> int:
        after = self.add(Char(word, self.add(Match())))
        sides = [
            self.add(Behind(((word,),), not inside, self.add(Ahead(after, inside ^ negated, then))))
            for inside in (True, False)
        ]
        return self.add(Split(tuple(sides)))

    def _fail(self, fact: str, position: int, remedy: str) -> NoReturn:
        raise RegexError(fact, pattern=self._pattern, position=position, remedy=remedy)
