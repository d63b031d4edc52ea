"""Regular expressions to nondeterministic automata, by continuations.

`NfaBuilder.build(expr, then)` returns the state from which a text of `expr` leads to the state
`then` (Thompson's construction, CACM 1968, written backwards: the continuation is known first, so
equal continuations share states and no fragment is patched afterwards).

The builder knows neither labels nor where edges are kept: `CharNfa` labels an edge with a CharSet,
`byte_nfa.ByteNfa` spells a character in bytes. Operators of set algebra are handed to `embed`,
which gives a DFA.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

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

__all__ = ["CharNfa", "Embed", "NfaBuilder", "size_of"]

Embed = Callable[[Expr], CharDfa]


class NfaBuilder(ABC):
    """States under construction."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._embedded: dict[Expr, CharDfa] = {}
        self._chars: dict[tuple[str, int, CharSet], int] = {}

    @property
    def kind(self) -> str:
        """What tells apart two ways of writing the same character, if there are two."""
        return ""

    @abstractmethod
    def state(self) -> int:
        """Add a state without edges. Raises LimitExceeded."""

    @abstractmethod
    def add_chars(self, source: int, charset: CharSet, then: int) -> None:
        """Add edges that lead from `source` to `then` by one member of `charset`."""

    @abstractmethod
    def add_epsilon(self, source: int, target: int) -> None:
        """Add a silent edge."""

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
                return self.literal(text, then)
            case Seq(items):
                for item in reversed(items):
                    then = self.build(item, then)
                return then
            case Alt(items):
                return self._alternatives(items, then)
            case Repeat(item, minimum, maximum):
                return self.repeat(item, minimum, maximum, then)
            case And() | Not() | Divisible():
                return self.set_algebra(expr, then)
            case _:
                message = f"{type(expr).__name__} is not regular here"
                raise TypeError(message)

    def chars(self, charset: CharSet, then: int) -> int:
        """Return the state from which one member of `charset` leads to `then`."""
        key = (self.kind, then, charset)
        known = self._chars.get(key)
        if known is None:
            known = self._chars[key] = self.state()
            self.add_chars(known, charset, then)
        return known

    def repeat(self, item: Expr, minimum: int, maximum: int | None, then: int) -> int:
        """Return the start of `minimum` to `maximum` copies of `item` before `then`."""
        if maximum is None:
            entry = self.star(item, then)
        else:
            entry = self._optional_copies(item, maximum - minimum, then)
        for _ in range(minimum):
            entry = self.build(item, entry)
        return entry

    def literal(self, text: str, then: int) -> int:
        """Return the state from which `text` leads to `then`."""
        for char in reversed(text):
            entry = self.state()
            self.add_chars(entry, CharSet(((ord(char), ord(char)),)), then)
            then = entry
        return then

    def _alternatives(self, items: tuple[Expr, ...], then: int) -> int:
        entry = self.state()
        literals = [item.text for item in items if isinstance(item, Literal)]
        if len(literals) > 1:
            self.trie(entry, literals, then)
        for item in items:
            if len(literals) > 1 and isinstance(item, Literal):
                continue
            self.add_epsilon(entry, self.build(item, then))
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
                    self.add_chars(at, CharSet(((ord(char), ord(char)),)), child)
                at = child
            self.add_chars(at, CharSet(((ord(text[-1]), ord(text[-1])),)), then)

    def star(self, item: Expr, then: int) -> int:
        """Return the state from which any number of `item` leads to `then`."""
        head = self.state()
        self.add_epsilon(head, then)
        self.add_epsilon(head, self.build(item, head))
        return head

    def _optional_copies(self, item: Expr, copies: int, then: int) -> int:
        entry = then
        for _ in range(copies):
            optional = self.state()
            self.add_epsilon(optional, then)
            self.add_epsilon(optional, self.build(item, entry))
            entry = optional
        return entry

    def set_algebra(self, expr: Expr, then: int) -> int:
        """Return the start of a DFA of `expr` whose ends lead to `then`."""
        dfa = self._embedded.get(expr)
        if dfa is None:
            dfa = self._embedded[expr] = self._embed(expr)
        states = [self.state() for _ in dfa.table]
        for source, edges in zip(states, dfa.grouped(), strict=True):
            for charset, target in edges:
                self.add_chars(source, charset, states[target])
        for source, accepting in zip(states, dfa.accepting, strict=True):
            if accepting:
                self.add_epsilon(source, then)
        return states[0]


class CharNfa(NfaBuilder):
    """Over characters: `edges[s]` are (members, target), `epsilon[s]` are targets."""

    def __init__(self, embed: Embed, limits: Limits, deadline: Deadline) -> None:
        super().__init__(embed)
        self.edges: list[list[tuple[CharSet, int]]] = []
        self.epsilon: list[list[int]] = []
        self._limits = limits
        self._deadline = deadline

    def state(self) -> int:
        """Add a state without edges. Raises LimitExceeded."""
        number = len(self.edges)
        if number >= self._limits.states:
            raise LimitExceeded("states", given=number + 1, allowed=self._limits.states)
        if number % 4096 == 0:
            self._deadline.check()
        self.edges.append([])
        self.epsilon.append([])
        return number

    def add_chars(self, source: int, charset: CharSet, then: int) -> None:
        """Add one edge."""
        self.edges[source].append((charset, then))

    def add_epsilon(self, source: int, target: int) -> None:
        """Add a silent edge."""
        self.epsilon[source].append(target)


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
        case Divisible(divisor, places):
            return divisor * (places + 2)
        case JsonString(content):
            return 2 + size_of(content, sizes)
        case _:
            return 1
