"""The blanks between JSON tokens, as small expressions for each policy.

Takes a policy; gives the punctuation of arrays and objects with the blanks it may carry. Blanks are
bounded in every gap, stand never before a comma or colon, and never at the ends of a text.
"""

from __future__ import annotations

from dataclasses import dataclass

from constrain.schema.options import SchemaOptions
from constrain.syntax.expr import (
    EMPTY,
    Distinct,
    Expr,
    Literal,
    Ref,
    Seq,
    alt,
    literal,
    repeat,
    seq,
)

__all__ = ["INDENTATION", "Punctuation", "guarded", "indentation", "plain", "punctuation"]

# The rule of the blanks after a newline, shared by all gaps.
INDENTATION = "indentation"


@dataclass(frozen=True, slots=True)
class Punctuation:
    """What stands after an opening bracket, before a closing one, between members, after a key."""

    opened: Expr
    closed: Expr
    comma: Expr
    colon: Expr


def guarded(mark: Expr, *, scarce: bool) -> Expr:
    """Return a comma or bracket, with what follows it, as a guarded one (see Distinct)."""
    first, *rest = mark.items if isinstance(mark, Seq) else (mark,)
    if not isinstance(first, Literal):
        raise TypeError(f"no punctuation: {mark}")
    return seq(Distinct(first.text[0], scarce), literal(first.text[1:]), *rest)


def plain(mark: Expr) -> Expr:
    """Return the mark as it is: the other choice beside `guarded`."""
    return mark


def indentation(options: SchemaOptions) -> Expr:
    """Return the language of the rule named `INDENTATION`."""
    return repeat(literal(" "), 0, options.indentation)


def punctuation(options: SchemaOptions) -> Punctuation:
    """Return the punctuation of the policy."""
    line = seq(literal("\n"), Ref(INDENTATION))
    if options.whitespace == "compact":
        return Punctuation(EMPTY, EMPTY, literal(","), literal(":"))
    if options.whitespace == "spaced":
        return Punctuation(EMPTY, EMPTY, literal(", "), literal(": "))
    if options.whitespace == "pretty":
        return Punctuation(line, line, seq(literal(","), line), literal(": "))
    gap = alt(EMPTY, literal(" "), line)
    colon = seq(literal(":"), alt(EMPTY, literal(" ")))
    return Punctuation(gap, gap, seq(literal(","), gap), colon)
