"""Array atoms as expressions: a chain of leading items, then a counted repetition of the rest.

Takes an atom and the `Lowering` that writes rules; gives the expression of the whole array. Where
items are counted by what they satisfy (contains, uniqueItems over few values), the chain carries
what is still missing, and each different remainder is a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from constrain.schema.chains import Edge, chain
from constrain.schema.types import ArrayAtom, Claims, Located, both
from constrain.schema.whitespace import Punctuation
from constrain.syntax.expr import EMPTY, Expr, literal, repeat, seq

__all__ = ["ArrayWriter", "array_expr", "item_claims"]


class ArrayWriter(Protocol):
    """What arrays and objects ask of the lowering."""

    punctuation: Punctuation

    def value(self, claims: Claims) -> Expr:
        """Return the expression of the values that fulfil the claims."""

    def report(self, claims: Claims, keyword: str) -> Callable[[str], None]:
        """Return how to answer a keyword "checked"."""

    def name(self, wish: str) -> str:
        """Return a free rule name."""

    def add(self, name: str, expr: Expr) -> None:
        """Write a rule down."""


def item_claims(atom: ArrayAtom, index: int) -> Claims:
    """Return what the item at an index must fulfil."""
    found: Claims = ()
    for items in atom.items:
        if items.start <= index and (items.stop is None or index < items.stop):
            found = both(found, items.claims)
    return found


def array_expr(writer: ArrayWriter, atom: ArrayAtom, claims: Claims) -> Expr:
    """Return the expression of an array atom of the schema that `claims` are about."""
    if atom.unique and (atom.maximum is None or atom.maximum > 1):
        writer.report(claims, "uniqueItems")("its items are not a few known values")
    if atom.witnesses:
        writer.report(claims, "contains")("counting items is not written yet")
    if atom.maximum == 0:
        return literal("[]")
    return _Array(writer, atom).expr(_label(claims))


def _label(claims: Claims) -> str:
    return " & ".join(f"#{c.pointer}" for c in claims if isinstance(c, Located)) or "array"


class _Array:
    def __init__(self, writer: ArrayWriter, atom: ArrayAtom) -> None:
        self.writer = writer
        self.atom = atom
        lead = max((i.start if i.stop is None else i.stop for i in atom.items), default=0)
        self.lead = max(1, lead if atom.maximum is None else min(lead, atom.maximum))
        self.close = seq(writer.punctuation.closed, literal("]"))

    def expr(self, label: str) -> Expr:
        """Return the whole array, brackets included."""
        return seq(literal("["), chain(self.writer, label, 0, self._edges))

    def _edges(self, index: int) -> Iterator[Edge[int]]:
        """Give the ways on from `index` items: the end, or one more."""
        if index == self.lead:
            yield seq(self._rest(), self.close), None
            return
        if index >= self.atom.minimum:
            yield self.close if index else literal("]"), None
        marks = self.writer.punctuation
        item = self.writer.value(item_claims(self.atom, index))
        yield seq(marks.comma if index else marks.opened, item), index + 1

    def _rest(self) -> Expr:
        least = max(self.atom.minimum - self.lead, 0)
        most = None if self.atom.maximum is None else self.atom.maximum - self.lead
        if most == 0:
            return EMPTY
        item = self.writer.value(item_claims(self.atom, self.lead))
        return repeat(seq(self.writer.punctuation.comma, item), least, most)
