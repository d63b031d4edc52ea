"""String atoms as languages of decoded string values.

Takes `StringAtom`s; gives the regular Expr of their values (to be put into `JsonString`).
"""

from __future__ import annotations

from constrain.schema.types import StringAtom
from constrain.syntax.expr import (
    ANY_CHAR,
    ANY_TEXT,
    Expr,
    alt,
    conjunction,
    literal,
    repeat,
)

__all__ = ["content"]


def content(atom: StringAtom) -> Expr:
    """Return the language of an atom. Lengths count code points."""
    if atom.values is not None:
        return alt(*(literal(value) for value in atom.values))
    length: Expr = ANY_TEXT
    if atom.minimum or atom.maximum is not None:
        length = repeat(ANY_CHAR, atom.minimum, atom.maximum)
    return conjunction((*atom.languages, length))
