"""Regular expressions to nondeterministic automata, by continuations.

`NfaBuilder.build(expr, then)` returns the state from which a text of `expr` leads to the state
`then` (Thompson's construction, CACM 1968, written backwards: the continuation is known first, so
equal continuations share states and no fragment is patched afterwards).

The builder knows labels only through its `Spelling`: over characters a label is a CharSet, over
bytes it is a byte range. Operators of set algebra are handed to `embed`, which gives a DFA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from constrain.automata.alphabet import ByteSequence
from constrain.automata.dfa import CharDfa
from constrain.errors import LimitExceeded
from constrain.limits import Deadline, Limits
from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    Alt,
    And,
    Chars,
    Divisible,
    Empty,
    Expr,
    JsonString,
    Literal,
    Not,
    Nothing,
    Repeat,
    Seq,
)

__all__ = ["ByteSpelling", "CharSpelling", "NfaBuilder", "Spelling", "size_of"]

Label = TypeVar("Label")
Label_co = TypeVar("Label_co", covariant=True)
Embed = Callable[[Expr], CharDfa]


class Spelling(Protocol[Label_co]):
    """How one character of a set becomes a path of labelled edges."""

    def paths(self, charset: CharSet) -> Sequence[tuple[Label_co, ...]]:
        """Return the alternative paths that spell one member of `charset`."""


class CharSpelling:
    """One edge a character, labelled by the whole set."""

    def paths(self, charset: CharSet) -> Sequence[tuple[CharSet, ...]]:
        """Return the one path of one label."""
        return [(charset,)]


@dataclass(frozen=True, slots=True)
class ByteSpelling:
    """The paths of byte ranges that `spell` (see alphabet) gives."""

    spell: Callable[[CharSet], tuple[ByteSequence, ...]]

    def paths(self, charset: CharSet) -> Sequence[ByteSequence]:
        """Return the byte sequences."""
        return self.spell(charset)


class NfaBuilder(Generic[Label]):
    """States under construction: `edges[s]` are (label, target), `epsilon[s]` are targets."""

    def __init__(
        self, spelling: Spelling[Label], embed: Embed, limits: Limits, deadline: Deadline
    ) -> None:
        self.edges: list[list[tuple[Label, int]]] = []
        self.epsilon: list[list[int]] = []
        self.spelling = spelling
        self.limits = limits
        self._embed = embed
        self._deadline = deadline
        self._tails: dict[tuple[int, int, object], int] = {}
        self._embedded: dict[Expr, CharDfa] = {}

    def state(self) -> int:
        """Add a state without edges."""
        number = len(self.edges)
        if number >= self.limits.states:
            raise LimitExceeded("states", given=number + 1, allowed=self.limits.states)
        if number % 4096 == 0:
            self._deadline.check()
        self.edges.append([])
        self.epsilon.append([])
        return number

    def build(self, expr: Expr, then: int) -> int:
        """Return the state from which exactly the texts of `expr` lead to `then`."""
        match expr:
            case Empty():
                return then
            case Nothing():
                return self.state()
            case Chars(charset):
                return self.chars(charset, then)
            case Literal(text):
                return self._literal(text, then)
            case Seq(items):
                for item in reversed(items):
                    then = self.build(item, then)
                return then
            case Alt(items):
                return self._alternatives(items, then)
            case Repeat(item, minimum, maximum):
                return self.repeat(item, minimum, maximum, then)
            case And() | Not() | Divisible():
                return self._set_algebra(expr, then)
            case _:
                message = f"{type(expr).__name__} is not regular here"
                raise TypeError(message)

    def chars(self, charset: CharSet, then: int) -> int:
        """Return the state from which one member of `charset` leads to `then`."""
        key = (id(self.spelling), then, charset)
        known = self._tails.get(key)
        if known is None:
            known = self._tails[key] = self.state()
            self.add_chars(known, charset, then)
        return known

    def add_chars(self, source: int, charset: CharSet, then: int) -> None:
        """Add the spellings of `charset` from an existing state to `then`."""
        for path in self.spelling.paths(charset):
            self.edges[source].append((path[0], self._tail(path[1:], then)))

    def repeat(self, item: Expr, minimum: int, maximum: int | None, then: int) -> int:
        """Return the start of `minimum` to `maximum` copies of `item` before `then`."""
        if maximum is None:
            entry = self._star(item, then)
        else:
            entry = self._optional_copies(item, maximum - minimum, then)
        for _ in range(minimum):
            entry = self.build(item, entry)
        return entry

    def _tail(self, path: tuple[Label, ...], then: int) -> int:
        """Return the state from which `path` leads to `then`; equal tails are one state."""
        if not path:
            return then
        key = (0, then, path)
        known = self._tails.get(key)
        if known is None:
            known = self._tails[key] = self.state()
            self.edges[known].append((path[0], self._tail(path[1:], then)))
        return known

    def _literal(self, text: str, then: int) -> int:
        for char in reversed(text):
            entry = self.state()
            self.add_chars(entry, CharSet(((ord(char), ord(char)),)), then)
            then = entry
        return then

    def _alternatives(self, items: tuple[Expr, ...], then: int) -> int:
        entry = self.state()
        literals = [item.text for item in items if isinstance(item, Literal)]
        if len(literals) > 1:
            self._trie(entry, literals, then)
        for item in items:
            if len(literals) > 1 and isinstance(item, Literal):
                continue
            self.epsilon[entry].append(self.build(item, then))
        return entry

    def _trie(self, root: int, texts: Sequence[str], then: int) -> None:
        """Spell many texts with common prefixes shared: the last character leads to `then`."""
        children: dict[tuple[int, str], int] = {}
        for text in texts:
            at = root
            for char in text[:-1]:
                child = children.get((at, char))
                if child is None:
                    child = children[at, char] = self.state()
                    self.add_chars(at, CharSet(((ord(char), ord(char)),)), child)
                at = child
            self.add_chars(at, CharSet(((ord(text[-1]), ord(text[-1])),)), then)

    def _star(self, item: Expr, then: int) -> int:
        head = self.state()
        self.epsilon[head].append(then)
        self.epsilon[head].append(self.build(item, head))
        return head

    def _optional_copies(self, item: Expr, copies: int, then: int) -> int:
        entry = then
        for _ in range(copies):
            optional = self.state()
            self.epsilon[optional].extend((then, self.build(item, entry)))
            entry = optional
        return entry

    def _set_algebra(self, expr: Expr, then: int) -> int:
        dfa = self._embedded.get(expr)
        if dfa is None:
            dfa = self._embedded[expr] = self._embed(expr)
        states = [self.state() for _ in dfa.table]
        for source, row in zip(states, dfa.table, strict=True):
            for charset, target in dfa.grouped(row):
                self.add_chars(source, charset, states[target])
        for source, accepting in zip(states, dfa.accepting, strict=True):
            if accepting:
                self.epsilon[source].append(then)
        return states[0]


def size_of(expr: Expr, sizes: dict[int, tuple[Expr, int]]) -> int:
    """Return roughly how many states `expr` takes; `sizes` remembers by identity."""
    known = sizes.get(id(expr))
    if known is None:
        known = sizes[id(expr)] = (expr, _size(expr, sizes))
    return known[1]


def _size(expr: Expr, sizes: dict[int, tuple[Expr, int]]) -> int:
    match expr:
        case Literal(text):
            return len(text)
        case Chars(charset):
            return 1 if charset.ranges and charset.ranges[-1][1] < 0x80 else 8
        case Seq(items) | Alt(items) | And(items):
            return 1 + sum(size_of(item, sizes) for item in items)
        case Repeat(item, minimum, maximum):
            return 1 + size_of(item, sizes) * max(1, minimum if maximum is None else maximum)
        case Not(item):
            return 2 * size_of(item, sizes)
        case Divisible(divisor):
            return divisor
        case JsonString(content):
            return 2 + size_of(content, sizes)
        case _:
            return 1
