"""What the tests of the schema front end share: a schema's language, asked through the oracle."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from constrain.schema import SchemaGrammar, SchemaOptions, schema_grammar
from tests.expr_oracle import accepts

COMPACT = SchemaOptions(whitespace="compact")


def compact(value: Any) -> str:
    """Return the canonical text of an instance."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def language(schema: Any, options: SchemaOptions = COMPACT) -> Callable[[str], bool]:
    """Return a test of whether a text is in the language of a schema."""
    grammar = written(schema, options).grammar
    return lambda text: accepts(grammar, text)


def written(schema: Any, options: SchemaOptions = COMPACT) -> SchemaGrammar:
    """Return what the front end writes for a schema."""
    return schema_grammar(schema, options)
