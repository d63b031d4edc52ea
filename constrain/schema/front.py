"""The schema front end as one function: parsed JSON Schema -> grammar and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from constrain.errors import UnsatisfiableSchema
from constrain.limits import Limits
from constrain.schema.document import Document
from constrain.schema.keywords import KeywordAnswer
from constrain.schema.lower import Lowering
from constrain.schema.normalize import Normalizer
from constrain.schema.options import SchemaOptions
from constrain.schema.prune import productive
from constrain.syntax.expr import Grammar, Nothing

__all__ = ["SchemaGrammar", "schema_grammar"]

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
) -> SchemaGrammar:
    """Return the grammar of the JSON texts that satisfy `schema`.

    Raises SchemaError (malformed), UnresolvableReference, UnsupportedSchema (refused, or not
    enforceable in strict mode), UnsatisfiableSchema, LimitExceeded; each names a JSON Pointer.
    """
    options, limits = options or SchemaOptions(), limits or Limits()
    document = Document(schema, limits)
    normalizer = Normalizer(document, limits, strict=options.strict)
    grammar = productive(Lowering(normalizer, options, limits).grammar())
    if isinstance(grammar.start, Nothing):
        raise _unsatisfiable(normalizer)
    answers = tuple(normalizer.answers.values())
    return SchemaGrammar(grammar, answers, _DRAFT_NAMES[document.draft])


def _unsatisfiable(normalizer: Normalizer) -> UnsatisfiableSchema:
    return UnsatisfiableSchema(
        "no value satisfies this schema",
        pointer="",
        remedy="look for keywords that contradict each other, or a reference that never ends",
    )
