"""String atoms as languages of decoded string values.

Takes `StringAtom`s; gives the regular Expr of their values (to be put into `JsonString`).
"""

from __future__ import annotations

from constrain.schema.lengths import within
from constrain.schema.types import StringAtom
from constrain.syntax.expr import (
    ANY_CHAR,
    Expr,
    alt,
    conjunction,
    literal,
    repeat,
)

__all__ = ["content", "needs_counting"]


def content(atom: StringAtom) -> Expr:
    """Return the language of an atom. Lengths count code points."""
    if atom.values is not None:
        return alt(*(literal(value) for value in atom.values))
    fitted = _fitted(atom)
    if fitted is not None:
        return fitted
    return conjunction((*atom.languages, repeat(ANY_CHAR, atom.minimum, atom.maximum)))


def needs_counting(atom: StringAtom) -> bool:
    """Return whether the length limits need a state for every count beside the languages."""
    return atom.values is None and _fitted(atom) is None


def _fitted(atom: StringAtom) -> Expr | None:
    """Return the language with its lengths, where no product is needed."""
    if not atom.minimum and atom.maximum is None:
        return conjunction(atom.languages)
    if not atom.languages:
        return repeat(ANY_CHAR, atom.minimum, atom.maximum)
    for i, language in enumerate(atom.languages):
        fitted = within(language, atom.minimum, atom.maximum)
        if fitted is not None:
            return conjunction((*atom.languages[:i], fitted, *atom.languages[i + 1 :]))
    return None
