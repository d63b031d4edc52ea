"""Types to expressions: the last stage, where claims become grammar rules and get their spelling.

Takes a Normalizer and the options; gives a Grammar. Every different conjunction of claims is
lowered once: arrays, objects and long scalars become rules of their own (so recursion is a rule
that calls itself), short scalars stand where they are used. Rules are named after JSON Pointers.
Works through a queue, so a schema's depth is no depth of Python frames.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from constrain.limits import Limits
from constrain.schema.arrays import array_expr
from constrain.schema.keys import known_names
from constrain.schema.normalize import Normalizer
from constrain.schema.numbers import number_texts
from constrain.schema.objects import object_expr
from constrain.schema.options import SchemaOptions
from constrain.schema.strings import content, needs_counting
from constrain.schema.types import (
    ANY_TYPE,
    Claims,
    Equals,
    Located,
    Negated,
    Never,
    NumberRange,
    NumberSet,
    ObjectAtom,
    StringAtom,
    Type,
)
from constrain.schema.whitespace import INDENTATION, indentation, punctuation
from constrain.syntax.expr import (
    ANY_TEXT,
    NOTHING,
    Alt,
    And,
    Expr,
    Grammar,
    JsonString,
    Not,
    Ref,
    Repeat,
    Seq,
    alt,
    literal,
)

__all__ = ["Lowering"]

# Scalars of up to this many nodes are written out at each use.
_INLINE_NODES = 24
# Languages of strings of so many nodes are rules of their own, wherever they stand.
_SHARED_NODES = 1_000
# Most patterns are counted at no cost, but one whose lengths leave gaps takes its states once for
# every count.
_MAX_COUNTED = 100_000
_NUMBERS = {
    "number": ANY_TYPE.numbers,
    "integer": NumberSet(ranges=(NumberRange(multiples=frozenset({Fraction(1)})),)),
}
_HEAD = "$schema"
_SHARED = {"string": "any string", "number": "any number", "integer": "any integer"}


class Lowering:
    """One grammar being written."""

    def __init__(self, normalizer: Normalizer, options: SchemaOptions, limits: Limits) -> None:
        self.normalizer = normalizer
        self.options = options
        self.punctuation = punctuation(options)
        whole = [normalizer.document.at("").schema, *normalizer.document.others.values()]
        self.compares_items = _asks(whole, _compares_items)
        self.guards_keys = (
            options.distinct_keys or self.compares_items or _asks(whole, _counts_keys)
        )
        self._has_id = bool(normalizer.document.at("").base)
        self.rules: dict[str, Expr] = {}
        self._limits = limits
        self._deadline = limits.deadline()
        self._values: dict[Claims, Expr] = {}
        self._scalar_rules: dict[Expr, str] = {}
        self._queue: deque[tuple[str, Claims]] = deque()
        self._names: dict[str, int] = {}
        self._size = 0

    def grammar(self) -> Grammar:
        """Return the grammar of the whole document. Raises SchemaError or LimitExceeded."""
        start = self.value(self.normalizer.root())
        while self._queue:
            self._deadline.check()
            name, claims = self._queue.popleft()
            self.add(name, self._kinds(claims))
        self.rules[INDENTATION] = indentation(self.options)
        return Grammar(start, self.rules)

    # ------------------------------------------------------------ for arrays and objects

    def value(self, claims: Claims) -> Expr:
        """Return the expression of the values that fulfil the claims: a rule, or a short scalar."""
        known = self._values.get(claims)
        if known is None:
            known = self._first_use(claims)
            self._values[claims] = known
        return known

    def type_of(self, claims: Claims) -> Type:
        """Return the type of the values that fulfil the claims."""
        return self.normalizer.type_of(claims)

    def name(self, wish: str) -> str:
        """Return a rule name that is not taken, beginning with `wish`."""
        count = self._names.get(wish, 0) + 1
        self._names[wish] = count
        return wish if count == 1 else f"{wish} ({count})"

    def add(self, name: str, expr: Expr) -> None:
        """Write a rule down."""
        self._size += _nodes(expr, self._limits.expression_size)
        self._limits.check("expression_size", self._size, place=name)
        self.rules[name] = expr

    def report(self, claims: Claims, keyword: str) -> Callable[[str], None]:
        """Return how to answer "checked" for a keyword of the schema that the claims are about."""
        document = self.normalizer.document
        pointers = [c.pointer for c in claims if isinstance(c, Located)] or [""]

        def tell(why: str) -> None:
            holding = [document.at(p) for p in pointers]
            named = [at for at in holding if isinstance(at.schema, dict) and keyword in at.schema]
            self.normalizer.note((named or holding)[0], keyword, why)

        return tell

    # ------------------------------------------------------------ values

    def _first_use(self, claims: Claims) -> Expr:
        if any(isinstance(claim, Never) for claim in claims):
            return NOTHING
        kind = self.normalizer.type_of(claims)
        if not kind:
            return NOTHING
        if not kind.arrays and not kind.objects:
            scalar = self._scalars(kind, claims)
            if _nodes(scalar, _INLINE_NODES + 1) <= _INLINE_NODES:
                return scalar
            return self._rule(scalar, _label(claims))
        name = self.name("any JSON" if not claims else _label(claims))
        self._queue.append((name, claims))
        return Ref(name)

    def _kinds(self, claims: Claims) -> Expr:
        kind = self.normalizer.type_of(claims)
        arrays = (array_expr(self, atom, claims) for atom in kind.arrays)
        atoms = (way for atom in kind.objects for way in self._headed(atom, claims))
        objects = (object_expr(self, atom, claims) for atom in atoms)
        return alt(self._scalars(kind, claims), *arrays, *objects)

    def _headed(self, atom: ObjectAtom, claims: Claims) -> tuple[ObjectAtom, ...]:
        """Return an atom, and where its document can name its schema, also with that key first.

        A schema that declares no "$schema" allows it as any other undeclared key, so last; but
        whoever writes it names the schema by its `$id` before all else.
        """
        if not self._has_id or claims != self.normalizer.root() or _HEAD in known_names(atom):
            return (atom,)
        order, required = (_HEAD, *atom.order), (_HEAD, *atom.required)
        return (atom, replace(atom, order=order, required=required))

    def _scalars(self, kind: Type, claims: Claims) -> Expr:
        booleans = (literal("true" if b else "false") for b in sorted(kind.booleans, reverse=True))
        return alt(
            literal("null") if kind.null else NOTHING,
            *booleans,
            self._numbers(kind.numbers, claims),
            self._strings(kind.strings, claims),
        )

    def _strings(self, atoms: tuple[StringAtom, ...], claims: Claims) -> Expr:
        if not atoms:
            return NOTHING
        return self.text(alt(*(content(self._countable(atom, claims)) for atom in atoms)))

    def _countable(self, atom: StringAtom, claims: Claims) -> StringAtom:
        """Return the atom, without an upper limit that would take too many states to count."""
        if atom.maximum is None or atom.maximum <= _MAX_COUNTED or not needs_counting(atom):
            return atom
        self.report(claims, "maxLength")("so large a limit cannot be counted beside the pattern")
        return replace(atom, maximum=None)

    def text(self, language: Expr) -> Expr:
        """Return the JSON strings of a language; the one of all strings is a shared rule."""
        if language == ANY_TEXT:
            return self._shared("string", lambda: JsonString(ANY_TEXT))
        if language == NOTHING:
            return NOTHING
        found = JsonString(language)
        large = _nodes(language, _SHARED_NODES) >= _SHARED_NODES
        return self._rule(found, "string") if large else found

    def _rule(self, expr: Expr, wish: str) -> Expr:
        """Return a call of the rule of a scalar expression, which is written once."""
        name = self._scalar_rules.get(expr)
        if name is None:
            name = self._scalar_rules[expr] = self.name(wish)
            self.add(name, expr)
        return Ref(name)

    def _numbers(self, numbers: NumberSet, claims: Claims) -> Expr:
        def write() -> Expr:
            return number_texts(numbers, self.options, self.report(claims, "multipleOf"))

        unbounded = next((key for key, known in _NUMBERS.items() if numbers == known), None)
        if unbounded is not None:
            return self._shared(unbounded, lambda: _unbounded(unbounded, self.options))
        return write() if numbers else NOTHING

    def _shared(self, key: str, write: Callable[[], Expr]) -> Expr:
        name = _SHARED[key]
        if name not in self.rules:
            self.add(name, write())
        return Ref(name)


@lru_cache(maxsize=32)
def _unbounded(key: str, options: SchemaOptions) -> Expr:
    return number_texts(_NUMBERS[key], options, lambda why: None)


def _label(claims: Claims) -> str:
    """Return a readable name of the values that fulfil the claims."""
    return " & ".join(_one_label(claim) for claim in claims[:4])


def _one_label(claim: object) -> str:
    if isinstance(claim, Located):
        return f"#{claim.pointer}"
    if isinstance(claim, Equals):
        return claim.text[:40]
    if isinstance(claim, Negated):
        return f"not ({_label(claim.claims)})"
    return "never"


def _compares_items(schema: dict[str, Any]) -> bool:
    return schema.get("uniqueItems") is True


def _counts_keys(schema: dict[str, Any]) -> bool:
    return schema.get("minProperties", 0) not in (0, 1)


def _asks(schema: object, test: Callable[[dict[str, Any]], bool]) -> bool:
    """Return whether some object in the schema passes the test."""
    todo = [schema]
    while todo:
        at = todo.pop()
        if isinstance(at, dict):
            if test(at):
                return True
            todo.extend(at.values())
        elif isinstance(at, list):
            todo.extend(at)
    return False


def _nodes(expr: Expr, enough: int) -> int:
    """Return the number of nodes, counted no further than `enough` or so."""
    count, todo = 0, [expr]
    while todo and count < enough:
        at = todo.pop()
        count += 1
        if isinstance(at, Seq | Alt | And):
            todo.extend(at.items)
        elif isinstance(at, Repeat | Not):
            todo.append(at.item)
        elif isinstance(at, JsonString):
            todo.append(at.content)
    return count + len(todo)
