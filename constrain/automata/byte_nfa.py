"""Expressions to byte automata: characters spelled in UTF-8, plainly or inside a JSON string.

Writes into a `Sketch`. Most characters are one byte that spells itself, so what is common (literal
text, choices of texts, any text but a few) is written byte by byte without asking `alphabet`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from constrain.automata.alphabet import ByteSequence, json_spellings, plain_spellings
from constrain.automata.nfa import Embed, NfaBuilder
from constrain.automata.sketch import EDGE_SOURCE, EDGE_TARGET, EPSILON_SOURCE, Sketch
from constrain.limits import Deadline, Limits
from constrain.syntax.charset import ANY, CharSet
from constrain.syntax.expr import ANY_CHAR, Alt, Empty, Expr, Literal, Not

__all__ = ["JSON", "PLAIN", "ByteNfa", "Spelling"]

_Path = tuple[int, ...]
"""Byte ranges to be read one after another, each as low << 8 | high."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How characters become bytes: those in `direct` are one byte, their own code."""

    name: str
    spell: Callable[[CharSet], tuple[ByteSequence, ...]]
    direct: CharSet


PLAIN = Spelling("plain", plain_spellings, CharSet(((0x00, 0x7F),)))
JSON = Spelling("json", json_spellings, CharSet(((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7F))))


class ByteNfa(NfaBuilder):
    """Writes expressions into `sketch`, characters as `spelling` has them."""

    def __init__(self, embed: Embed, limits: Limits, deadline: Deadline) -> None:
        super().__init__(embed)
        self.sketch = Sketch(limits, deadline)
        self.spelling = PLAIN
        self._paths: dict[tuple[str, int], tuple[CharSet, tuple[tuple[int, _Path], ...]]] = {}
        """By identity: hashing a large set takes longer than spelling it."""
        self._tails: dict[tuple[int, _Path], int] = {}

    @property
    def kind(self) -> str:
        """The name of the spelling."""
        return self.spelling.name

    def state(self) -> int:
        """Add a state without edges. Raises LimitExceeded."""
        return self.sketch.take(1)

    def add_epsilon(self, source: int, target: int) -> None:
        """Add a silent edge."""
        self.sketch.epsilons.append(source << EPSILON_SOURCE | target)

    def add_chars(self, source: int, charset: CharSet, then: int) -> None:
        """Add the spellings of `charset` from an existing state to `then`."""
        edges = self.sketch.edges
        paths = self._paths.get((self.kind, id(charset)))
        if paths is None or paths[0] is not charset:
            paths = charset, _paths(self.spelling, charset)
            self._paths[self.kind, id(charset)] = paths
        for first, rest in paths[1]:
            target = self._tail(rest, then) if rest else then
            edges.append(source << EDGE_SOURCE | target << EDGE_TARGET | first)

    def literal(self, text: str, then: int) -> int:
        """Return the state from which `text` leads to `then`."""
        entry = first = self.sketch.take(len(text))
        edges, direct = self.sketch.edges, _direct(self.spelling)
        for at, char in enumerate(text, first):
            target = at + 1 if at + 1 < first + len(text) else then
            if char in direct:
                edges.append(at << EDGE_SOURCE | target << EDGE_TARGET | ord(char) * 257)
            else:
                self.add_chars(at, CharSet(((ord(char), ord(char)),)), target)
        return entry

    def trie(self, root: int, texts: Sequence[str], then: int) -> None:
        """Spell many texts with common prefixes shared: the last character leads to `then`."""
        children: dict[tuple[int, str], int] = {}
        for text in texts:
            at = root
            for char in text[:-1]:
                child = children.get((at, char))
                if child is None:
                    child = children[at, char] = self.state()
                    self._add_char(at, char, child)
                at = child
            self._add_char(at, text[-1], then)

    def set_algebra(self, expr: Expr, then: int) -> int:
        """Return the start of a DFA of `expr` whose ends lead to `then`."""
        texts = _avoided(expr)
        return super().set_algebra(expr, then) if texts is None else self._but(texts, then)

    def _but(self, texts: Sequence[str], then: int) -> int:
        """Return the state from which any text but `texts` leads to `then`.

        Their trie, left for a state that takes any text by every character it does not expect.
        """
        free = self.star(ANY_CHAR, then)
        elsewhere = self.chars(ANY - self.spelling.direct, free)
        root = self.state()
        children: dict[int, dict[str, int]] = {root: {}}
        ends = set()
        for text in texts:
            at = root
            for char in text:
                below = children[at]
                if char not in below:
                    below[char] = child = self.state()
                    children[child] = {}
                at = below[char]
            ends.add(at)
        for state, below in children.items():
            if state not in ends:
                self.add_epsilon(state, then)
            self._add_others(state, below, free, elsewhere)
            for char, child in below.items():
                self._add_char(state, char, child)
        return root

    def _add_others(self, state: int, but: dict[str, int], free: int, elsewhere: int) -> None:
        """Lead every character that is not in `but` to `free`; `elsewhere` spells the longer."""
        step = state << EDGE_SOURCE | free << EDGE_TARGET
        direct = _direct(self.spelling)
        self.sketch.edges += [
            step | low << 8 | high for low, high in _gaps(self.spelling, "".join(sorted(but)))
        ]
        longer = [char for char in but if char not in direct]
        if longer:
            self.add_chars(state, ANY - self.spelling.direct - CharSet.from_chars(longer), free)
        else:
            self.add_epsilon(state, elsewhere)

    def _add_char(self, source: int, char: str, then: int) -> None:
        if char in _direct(self.spelling):
            edge = source << EDGE_SOURCE | then << EDGE_TARGET | ord(char) * 257
            self.sketch.edges.append(edge)
        else:
            self.add_chars(source, CharSet(((ord(char), ord(char)),)), then)

    def _tail(self, path: _Path, then: int) -> int:
        """Return the state from which `path` leads to `then`; equal tails are one state."""
        key = (then, path)
        known = self._tails.get(key)
        if known is None:
            known = self._tails[key] = self.state()
            target = self._tail(path[1:], then) if len(path) > 1 else then
            self.sketch.edges.append(known << EDGE_SOURCE | target << EDGE_TARGET | path[0])
        return known


@lru_cache(maxsize=4096)
def _paths(spelling: Spelling, charset: CharSet) -> tuple[tuple[int, _Path], ...]:
    """Return the byte ranges that a member may begin with, each with what must follow."""
    packed = (tuple(low << 8 | high for low, high in path) for path in spelling.spell(charset))
    return tuple((path[0], path[1:]) for path in packed)


@lru_cache(maxsize=4)
def _direct(spelling: Spelling) -> frozenset[str]:
    return frozenset(chr(c) for low, high in spelling.direct.ranges for c in range(low, high + 1))


@lru_cache(maxsize=4096)
def _gaps(spelling: Spelling, but: str) -> tuple[tuple[int, int], ...]:
    """Return the ranges of characters that are one byte and not in `but`."""
    return (spelling.direct - CharSet.from_chars(but)).ranges


def _avoided(expr: Expr) -> list[str] | None:
    """Return the texts that are all which `expr` refuses, if it is of that shape."""
    if not isinstance(expr, Not):
        return None
    items = expr.item.items if isinstance(expr.item, Alt) else (expr.item,)
    texts = [_text(item) for item in items]
    return None if None in texts else [text for text in texts if text is not None]


def _text(expr: Expr) -> str | None:
    if isinstance(expr, Empty):
        return ""
    return expr.text if isinstance(expr, Literal) else None
