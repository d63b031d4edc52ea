"""What the tests of the schema front end share: a schema's language, asked through the oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import permutations, product
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


def orders(value: Any) -> Iterator[str]:
    """Give the compact texts of a value, for every order of its keys at every level."""
    if isinstance(value, dict):
        for order in permutations(value):
            for texts in product(*(list(orders(value[key])) for key in order)):
                members = (f"{compact(k)}:{text}" for k, text in zip(order, texts, strict=True))
                yield "{" + ",".join(members) + "}"
    elif isinstance(value, list):
        for texts in product(*(list(orders(item)) for item in value)):
            yield "[" + ",".join(texts) + "]"
    else:
        yield compact(value)
