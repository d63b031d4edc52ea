"""How many different values a type or a language has, at least.

Takes claims and a way to their types; gives lower bounds and bools, never too large. Where the
values of siblings must differ, there have to be enough of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor

from constrain.schema.keys import KeyClaims, closed_names, known_names
from constrain.schema.membership import contains
from constrain.schema.types import (
    FALSE,
    ArrayAtom,
    Claims,
    NumberRange,
    ObjectAtom,
    StringAtom,
    Type,
    both,
)
from constrain.syntax.expr import (
    Alt,
    And,
    Chars,
    Empty,
    Expr,
    Literal,
    Not,
    Nothing,
    Repeat,
    Seq,
)
from constrain.syntax.languages import width

__all__ = ["MANY", "can_be_told_apart", "has_values", "listed", "texts"]

TypeOf = Callable[[Claims], Type]

MANY = 1 << 40
"""More than anybody asks for: an infinite language has so many texts."""
_MAX_LISTED = 200
_DEPTH = 6
_LOOKED_AT = 200


def has_values(type_of: TypeOf, claims: Claims, count: int, depth: int = _DEPTH) -> bool:
    """Return whether surely at least `count` different values fulfil the claims."""
    if count <= 0:
        return True
    kind = type_of(claims)
    found = kind.null + len(kind.booleans) + len(kind.numbers.points)
    found += sum(_numbers(r) for r in kind.numbers.ranges)
    found += max((_strings(atom) for atom in kind.strings), default=0)
    if found >= count:
        return True
    if depth == 0:
        return False
    return any(_array_has(type_of, a, count, depth - 1) for a in kind.arrays) or any(
        _object_has(type_of, o, count, depth - 1) for o in kind.objects
    )


def _numbers(interval: NumberRange) -> int:
    low, high = interval.low, interval.high
    if low is None or high is None:
        return MANY
    if interval.exclusions:
        return 0
    if not interval.multiples:
        return MANY if low < high else 0
    if len(interval.multiples) > 1:
        return 0
    (step,) = interval.multiples
    return max(
        0, floor(high / step) - ceil(low / step) + 1 - interval.low_open - interval.high_open
    )


def _strings(atom: StringAtom) -> int:
    if atom.values is not None:
        return len(atom.values)
    if not atom.languages:
        return MANY if atom.maximum is None or atom.maximum >= 3 else 1 + 1000 * atom.maximum
    bounded = atom.minimum > 0 or atom.maximum is not None
    return 0 if bounded or len(atom.languages) > 1 else texts(atom.languages[0])


def listed(language: Expr) -> frozenset[str] | None:
    """Return all texts of a regular language that plainly has few, None for any other."""
    match language:
        case Nothing():
            return frozenset()
        case Empty():
            return frozenset({""})
        case Literal(text):
            return frozenset({text})
        case Chars(charset):
            few = sum(high - low + 1 for low, high in charset.ranges) <= _MAX_LISTED
            chars = (chr(c) for low, high in charset.ranges for c in range(low, high + 1))
            return frozenset(chars) if few else None
        case Alt(items):
            return _united([listed(item) for item in items])
        case Seq(items):
            return _joined([listed(item) for item in items])
        case Repeat(item, minimum, int(maximum)) if maximum <= _MAX_LISTED:
            each = listed(item)
            lengths = range(minimum, maximum + 1)
            return _united([_joined([each] * count) for count in lengths])
        case And(items):
            found = next(filter(None.__ne__, map(listed, items)), None)
            if found is None:
                return None
            return frozenset(text for text in found if all(contains(item, text) for item in items))
        case _:
            return None


def _united(parts: list[frozenset[str] | None]) -> frozenset[str] | None:
    found: frozenset[str] = frozenset()
    for part in parts:
        if part is None or len(found) > _MAX_LISTED:
            return None
        found |= part
    return found if len(found) <= _MAX_LISTED else None


def _joined(parts: list[frozenset[str] | None]) -> frozenset[str] | None:
    found = frozenset({""})
    for part in parts:
        if part is None or len(found) * len(part) > _MAX_LISTED:
            return None
        found = frozenset(head + tail for head in found for tail in part)
    return found


def texts(language: Expr) -> int:
    """Return how many texts a regular language has at least, at most `MANY`."""
    few = listed(language)
    return _at_least(language) if few is None else len(few)


def _at_least(language: Expr) -> int:
    match language:
        case Empty() | Literal():
            return 1
        case Chars(charset):
            return sum(high - low + 1 for low, high in charset.ranges)
        case Seq(items):
            counts = [texts(item) for item in items]
            return max(counts) if min(counts) else 0
        case Alt(items):
            return max(texts(item) for item in items)
        case Repeat(item, minimum, maximum):
            return _repeated(item, minimum, maximum)
        case And(items):
            excluded = [item.item for item in items if isinstance(item, Not)]
            others = [item for item in items if not isinstance(item, Not)]
            if len(others) > 1:
                return 0
            endless = not others or _is_endless(others)
            if endless and all(width(item)[1] is not None for item in excluded):
                return MANY
            missing = [listed(item) for item in excluded]
            if None in missing:
                return 0
            without = sum(len(few or ()) for few in missing)
            return max(0, (texts(others[0]) if others else MANY) - without)
        case Not(item):
            return 0 if listed(item) is None else MANY
        case _:
            return 0


def _is_endless(items: Sequence[Expr]) -> bool:
    """Return whether the texts of a sequence surely may be of any length."""
    return all(map(texts, items)) and any(map(_has_endless_run, items))


def _has_endless_run(item: Expr) -> bool:
    match item:
        case Repeat(inner, _, None):
            return width(inner)[0] > 0 and texts(inner) > 0
        case Seq(items):
            return _is_endless(items)
        case Alt(items):
            return any(_is_endless((part,)) for part in items)
        case _:
            return False


def _repeated(item: Expr, minimum: int, maximum: int | None) -> int:
    each = texts(item)
    if not each:
        return int(minimum == 0)
    return MANY if maximum is None and each > 1 else each + (minimum != maximum)


def _array_has(type_of: TypeOf, atom: ArrayAtom, count: int, depth: int) -> bool:
    if atom.witnesses or atom.maximum == 0:
        return False
    claims: Claims = ()
    for items in atom.items:
        if items.start == 0:
            claims = both(claims, items.claims)
    return has_values(type_of, claims, count, depth)


def _object_has(type_of: TypeOf, atom: ObjectAtom, count: int, depth: int) -> bool:
    if atom.witnesses or atom.clauses or atom.maximum is not None:
        return False
    values = KeyClaims(atom)
    return any(has_values(type_of, values.of(name), count, depth) for name in known_names(atom))


def can_be_told_apart(type_of: TypeOf, claims: Claims) -> bool:
    """Return whether an object under way can differ from its siblings whatever they are.

    Undeclared keys come in any order. If there may always be one more, an object can still become
    different; if not, the members to come could be used up by a sibling in another order.
    """
    seen: dict[Claims, None] = {claims: None}
    todo = [claims]
    while todo and len(seen) < _LOOKED_AT:
        kind = type_of(todo.pop())
        if not all(closed_names(o) is not None or _has_always_a_key(o) for o in kind.objects):
            return False
        for child in _children(kind):
            if child not in seen:
                seen[child] = None
                todo.append(child)
    return True


def _has_always_a_key(atom: ObjectAtom) -> bool:
    if atom.maximum is not None:
        return False
    patterns = [keys.patterns for keys, claims in atom.rules if keys.outside and claims == FALSE]
    return not patterns or any(texts(p) >= MANY for p in patterns[0] if len(patterns) == 1)


def _children(kind: Type) -> list[Claims]:
    found = [items.claims for atom in kind.arrays for items in atom.items]
    for atom in kind.objects:
        values = KeyClaims(atom)
        found += [values.of(name) for name in known_names(atom)]
        found += [claims for _, claims in atom.rules]
    return found
