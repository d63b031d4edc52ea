"""The schema front end as one function: parsed JSON Schema -> grammar and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from constrain.errors import UnsatisfiableSchema
from constrain.limits import Limits
from constrain.schema.arrays import item_claims
from constrain.schema.document import Document
from constrain.schema.keys import KeyClaims
from constrain.schema.keywords import KeywordAnswer
from constrain.schema.lower import Lowering
from constrain.schema.normalize import Normalizer
from constrain.schema.options import SchemaOptions
from constrain.schema.prune import ending_rules, ends, productive
from constrain.schema.types import Claims, Located
from constrain.syntax.expr import Expr, Grammar, Nothing

__all__ = ["SchemaGrammar", "schema_grammar", "unsatisfiable"]

_DRAFT_NAMES = {4: "draft-04", 6: "draft-06", 7: "draft-07", 2019: "2019-09", 2020: "2020-12"}


@dataclass(frozen=True, slots=True)
class SchemaGrammar:
    """The texts of a schema's instances; the keywords the mask does not enforce; the draft."""

    grammar: Grammar
    answers: tuple[KeywordAnswer, ...]
    dialect: str


def schema_grammar(
    schema: Mapping[str, Any] | bool,
    options: SchemaOptions | None = None,
    limits: Limits | None = None,
    others: Mapping[str, Any] | None = None,
) -> SchemaGrammar:
    """Return the grammar of the JSON texts that satisfy `schema`.

    `others` are the schemas that it may refer to outside itself, by URI.

    Raises SchemaError (malformed), UnresolvableReference, UnsupportedSchema (refused, or not
    enforceable in strict mode), UnsatisfiableSchema, LimitExceeded; each names a JSON Pointer.
    """
    options, limits = options or SchemaOptions(), limits or Limits()
    document = Document(schema, limits, others)
    normalizer = Normalizer(document, limits, strict=options.strict)
    lowering = Lowering(normalizer, options, limits)
    written = lowering.grammar()
    grammar = productive(written)
    if isinstance(grammar.start, Nothing):
        ending = ending_rules(written)
        raise _unsatisfiable(lowering, lambda expr: ends(expr, ending))
    answers = tuple(normalizer.answers.values())
    return SchemaGrammar(grammar, answers, _DRAFT_NAMES[document.draft])


def unsatisfiable(
    schema: Mapping[str, Any] | bool,
    options: SchemaOptions,
    limits: Limits,
    others: Mapping[str, Any] | None,
    is_empty: Callable[[Expr], bool],
) -> UnsatisfiableSchema:
    """Return what is wrong with a schema whose grammar was found to have no text.

    `is_empty` tells whether a string expression, or set algebra, has one.
    """
    normalizer = Normalizer(Document(schema, limits, others), limits, strict=options.strict)
    lowering = Lowering(normalizer, options, limits)
    ending = ending_rules(lowering.grammar(), is_empty)
    return _unsatisfiable(lowering, lambda expr: ends(expr, ending, is_empty))


def _unsatisfiable(lowering: Lowering, has_text: Callable[[Expr], bool]) -> UnsatisfiableSchema:
    """Name the innermost schema without a value that its parents need."""
    claims = lowering.normalizer.root()
    seen, pointer = {claims}, ""
    while True:
        pointer = next((c.pointer for c in claims if isinstance(c, Located)), pointer)
        needed = (c for c in _needed(lowering.normalizer, claims) if c not in seen)
        empty = [c for c in needed if not has_text(lowering.value(c))]
        if not empty:
            break
        claims = empty[0]
        seen.add(claims)
    return UnsatisfiableSchema(
        "no value satisfies this schema",
        pointer=pointer,
        remedy="look for keywords that contradict each other, or a reference that never ends",
    )


def _needed(normalizer: Normalizer, claims: Claims) -> Iterator[Claims]:
    """Give the claims of required keys and items."""
    kind = normalizer.type_of(claims)
    for atom in kind.objects:
        values = KeyClaims(atom)
        yield from (values.of(name) for name in atom.required)
    for array in kind.arrays:
        if array.minimum:
            yield item_claims(array, 0)
