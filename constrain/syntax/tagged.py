"""Structural tags: free text with constrained islands, as one Grammar.

Takes the parts of a text in order; gives the grammar of the whole. An island begins where its
begin tag *first* occurs, so the free text before it can never hold one unseen, and a model that
writes the tag is inside the constraint from the next byte on. Knows no files and no JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from constrain.syntax.expr import (
    ANY_CHAR,
    ANY_TEXT,
    Alt,
    Expr,
    Grammar,
    Ref,
    Repeat,
    Seq,
    alt,
    complement,
    conjunction,
    literal,
    repeat,
    seq,
)

__all__ = ["FreeText", "Island", "Islands", "Part", "tagged"]


@dataclass(frozen=True, slots=True)
class FreeText:
    """Any text of at most `maximum` characters (None: of any length)."""

    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Island:
    """`begin`, a text of the content, `end`. Free content lasts to the first `end`."""

    begin: str
    content: Grammar | FreeText
    end: str


@dataclass(frozen=True, slots=True)
class Islands:
    """From `minimum` to `maximum` islands, each one of `options`, with free text all around."""

    options: tuple[Island, ...]
    minimum: int
    maximum: int | None
    around: FreeText


Part = FreeText | Island | Islands


def tagged(parts: Sequence[Part]) -> Grammar:
    """Return the grammar of the parts one after another.

    Free text stands before an island, or last; `Islands` stand last. Tags are not empty, except the
    end of content that ends by itself; no begin tag of a choice begins with another.
    """
    rules: dict[str, Expr] = {}
    pieces: list[Expr] = []
    before: FreeText | None = None
    for number, part in enumerate(parts):
        label = f"part {number + 1}"
        if isinstance(part, FreeText):
            before = part
            continue
        if isinstance(part, Islands):
            pieces.append(_islands(part, label, rules))
        else:
            opening = literal(part.begin) if before is None else _until(before, [part.begin])
            pieces.append(seq(opening, _inside(part, label, rules)))
        before = None
    if before is not None:
        pieces.append(repeat(ANY_CHAR, 0, before.maximum))
    return Grammar(seq(*pieces), rules)


def _islands(part: Islands, label: str, rules: dict[str, Expr]) -> Expr:
    """Return islands with text around them, in which no other begins."""
    begins = [option.begin for option in part.options]
    one = alt(
        *(
            seq(
                _until(part.around, begins, only=option.begin),
                _inside(option, f"{label}.{n}", rules),
            )
            for n, option in enumerate(part.options)
        )
    )
    rules[label] = one
    anywhere = seq(ANY_TEXT, alt(*map(literal, begins)), ANY_TEXT)
    after = conjunction((complement(anywhere), repeat(ANY_CHAR, 0, part.around.maximum)))
    return seq(repeat(Ref(label), part.minimum, part.maximum), after)


def _inside(island: Island, label: str, rules: dict[str, Expr]) -> Expr:
    """Return the content and the end tag."""
    if isinstance(island.content, FreeText):
        return _until(island.content, [island.end]) if island.end else _any(island.content)
    prefix = f"{label}: "
    for name, body in island.content.rules.items():
        rules[prefix + name] = _renamed(body, prefix)
    return seq(_renamed(island.content.start, prefix), literal(island.end))


def _any(text: FreeText) -> Expr:
    return repeat(ANY_CHAR, 0, text.maximum)


def _until(text: FreeText, tags: Sequence[str], only: str | None = None) -> Expr:
    """Return free text up to and with the first of `tags` that occurs in it, which is `only`."""
    some = alt(*map(literal, tags))
    tag = tags[0] if only is None else only
    first = conjunction(
        (
            seq(ANY_TEXT, literal(tag)),
            complement(seq(ANY_TEXT, some, ANY_CHAR, ANY_TEXT)),
        )
    )
    if text.maximum is None:
        return first
    return conjunction((first, repeat(ANY_CHAR, len(tag), text.maximum + len(tag))))


def _renamed(expr: Expr, prefix: str) -> Expr:
    """Return the expression with `prefix` before the names it refers to."""
    match expr:
        case Ref(name):
            return Ref(prefix + name)
        case Seq(items):
            return seq(*(_renamed(item, prefix) for item in items))
        case Alt(items):
            return alt(*(_renamed(item, prefix) for item in items))
        case Repeat(item, minimum, maximum):
            return Repeat(_renamed(item, prefix), minimum, maximum)
        case _:
            return expr
