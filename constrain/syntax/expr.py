"""Expr: the one intermediate representation of every constraint.

Schemas, regexes, grammars and choice lists are all written in these few node types; the
automata package reads nothing else. An Expr denotes a language: a set of texts, each a
sequence of Unicode scalar values (they become UTF-8 bytes only in `automata`).

Two levels meet here. `And` and `Not` are set algebra over *regular* languages of characters:
their operands hold no `Ref`. `JsonString` lifts a regular language of decoded string values to
the language of their JSON spellings, quotes included. Everything else is context-free: a
`Grammar` names rules, and `Ref` calls them, recursively to any depth.

The constructors `seq`, `alt`, `repeat`, `conjunction` and `complement` simplify as they build;
prefer them to the classes. Nodes are frozen and hashable, so equal expressions are shared freely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from constrain.syntax.charset import ANY, CharSet

__all__ = [
    "ANY_CHAR",
    "ANY_TEXT",
    "EMPTY",
    "NOTHING",
    "Alt",
    "And",
    "Chars",
    "Distinct",
    "Divisible",
    "Empty",
    "Expr",
    "Grammar",
    "JsonString",
    "Literal",
    "Not",
    "Nothing",
    "Ref",
    "Repeat",
    "Seq",
    "alt",
    "complement",
    "conjunction",
    "literal",
    "names",
    "repeat",
    "seq",
]


class _Remembering:
    """Where a node keeps what would be computed over and over: its hash, the names it refers to."""

    __slots__ = ("_hash", "_names")
    __match_args__: tuple[str, ...]
    _hash: int
    _names: frozenset[str]


def _hash_once(node: _Remembering) -> int:
    try:
        return node._hash
    except AttributeError:
        found = hash((type(node), *(getattr(node, name) for name in node.__match_args__)))
        object.__setattr__(node, "_hash", found)
        return found


@dataclass(frozen=True, slots=True)
class Nothing:
    """The empty language: no text at all."""


@dataclass(frozen=True, slots=True)
class Empty:
    """The language of the empty text."""


@dataclass(frozen=True, slots=True)
class Literal:
    """One non-empty text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars(_Remembering):
    """Any single character of a set."""

    __hash__ = _hash_once

    charset: CharSet


@dataclass(frozen=True, slots=True)
class Seq(_Remembering):
    """One text of each item, in order. At least two items."""

    __hash__ = _hash_once

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Alt(_Remembering):
    """A text of any item. At least two items."""

    __hash__ = _hash_once

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Repeat(_Remembering):
    """From `minimum` to `maximum` texts of `item` in a row; no `maximum`: any number."""

    __hash__ = _hash_once

    item: Expr
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class And(_Remembering):
    """A text that is in every item. Items are regular: they hold no Ref or JsonString."""

    __hash__ = _hash_once

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not(_Remembering):
    """Any text of scalar values that is not in `item`, which is regular."""

    __hash__ = _hash_once

    item: Expr


@dataclass(frozen=True, slots=True)
class Divisible:
    """Non-empty runs of decimal digits, leading zeros allowed, that `divisor` (>= 1) divides.

    With `places`: a point and digits may follow, and it is the value in units of so many decimal
    places that `divisor` divides; further places are zeros. Regular: one state a remainder and
    place. It is a node of its own because the equivalent regular expression grows exponentially
    with the divisor.
    """

    divisor: int
    places: int = 0


@dataclass(frozen=True, slots=True)
class JsonString(_Remembering):
    r"""The JSON spellings of the strings whose decoded value is in `content` (regular).

    Spelled as RFC 8259 section 7 allows, canonically: raw UTF-8; the short escapes for `"`, `\`,
    backspace, form feed, newline, return and tab; `\u00XX` for the other control characters.
    With `distinct` the closing quote is guarded: a key that its object does not have yet.
    """

    __hash__ = _hash_once

    content: Expr
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Distinct:
    """The one ASCII character `char`, guarded: what it ends must differ from its earlier siblings.

    For JSON texts. `[` and `{` open a container that is watched. In a watched array `,` and `]` may
    follow an item only if no earlier item has an equal value; in a watched object `"` may end a key
    only if the object has no equal key yet (see `JsonString.distinct`). The guard looks at the text
    so far (see `constrain.siblings`); the automaton merely marks the edge.

    `scarce` says that a text which repeats nothing may still have no way on: items end before their
    guard, and items or keys that differ may run out. Then every edge is marked at which an item or
    key may begin, or an object become equal to another. Keys of an endless language are not scarce.
    """

    char: str
    scarce: bool = False


@dataclass(frozen=True, slots=True)
class Ref:
    """A call of the rule of that name."""

    name: str


Expr = (
    Nothing
    | Empty
    | Literal
    | Chars
    | Seq
    | Alt
    | Repeat
    | And
    | Not
    | Divisible
    | JsonString
    | Distinct
    | Ref
)


@dataclass(frozen=True, slots=True)
class Grammar:
    """A start expression and the rules it may call by name."""

    start: Expr
    rules: Mapping[str, Expr]


NOTHING = Nothing()
EMPTY = Empty()
ANY_CHAR = Chars(ANY)
ANY_TEXT = Repeat(ANY_CHAR, 0, None)
_NO_NAMES: frozenset[str] = frozenset()


def names(expr: Expr) -> frozenset[str]:
    """Return the names of the rules that `expr` refers to."""
    match expr:
        case Ref(name):
            return frozenset((name,))
        case Seq(items) | Alt(items):
            return _names_once(expr, items)
        case Repeat(item, _, _):
            return _names_once(expr, (item,))
        case _:
            return _NO_NAMES


def _names_once(node: _Remembering, items: tuple[Expr, ...]) -> frozenset[str]:
    try:
        return node._names
    except AttributeError:
        found = _NO_NAMES.union(*map(names, items))
        object.__setattr__(node, "_names", found)
        return found


def literal(text: str) -> Expr:
    """Return the expression of exactly `text`, which may be empty."""
    return Literal(text) if text else EMPTY


def seq(*items: Expr) -> Expr:
    """Return the concatenation: flattened, `EMPTY` dropped, `NOTHING` absorbing."""
    flat: list[Expr] = []
    for item in items:
        if isinstance(item, Nothing):
            return NOTHING
        parts = item.items if isinstance(item, Seq) else (item,)
        for part in parts:
            if isinstance(part, Literal) and flat and isinstance(flat[-1], Literal):
                flat[-1] = Literal(flat[-1].text + part.text)
            elif not isinstance(part, Empty):
                flat.append(part)
    if not flat:
        return EMPTY
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def alt(*items: Expr) -> Expr:
    """Return the union: flattened, doubles and `NOTHING` dropped, order kept."""
    flat: dict[Expr, None] = {}
    for item in items:
        for part in item.items if isinstance(item, Alt) else (item,):
            if not isinstance(part, Nothing):
                flat[part] = None
    if not flat:
        return NOTHING
    return next(iter(flat)) if len(flat) == 1 else Alt(tuple(flat))


def repeat(item: Expr, minimum: int = 0, maximum: int | None = None) -> Expr:
    """Return `item` from `minimum` to `maximum` times; raises ValueError for a wrong interval."""
    if minimum < 0 or (maximum is not None and maximum < minimum):
        message = f"not an interval of counts: {minimum} to {maximum}"
        raise ValueError(message)
    if isinstance(item, Empty) or maximum == 0:
        return EMPTY
    if isinstance(item, Nothing):
        return EMPTY if minimum == 0 else NOTHING
    if minimum == maximum == 1:
        return item
    return Repeat(item, minimum, maximum)


def conjunction(items: Iterable[Expr]) -> Expr:
    """Return the intersection of regular expressions: `ANY_TEXT` dropped, `NOTHING` absorbing."""
    flat: dict[Expr, None] = {}
    for item in items:
        for part in item.items if isinstance(item, And) else (item,):
            if isinstance(part, Nothing):
                return NOTHING
            if part != ANY_TEXT:
                flat[part] = None
    if not flat:
        return ANY_TEXT
    return next(iter(flat)) if len(flat) == 1 else And(tuple(flat))


def complement(item: Expr) -> Expr:
    """Return all texts that are not in `item`, which is regular."""
    if isinstance(item, Not):
        return item.item
    if isinstance(item, Nothing):
        return ANY_TEXT
    return NOTHING if item == ANY_TEXT else Not(item)
