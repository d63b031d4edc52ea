"""JSON Schema to grammar, in stages that never look back.

    document    where the schema's parts and references are
    reading     one schema's keywords (assertions: of one kind; the rest: combinations)
    normalize   claims about a value -> Type, a closed set of types (types, intersect, complement)
    lower       Type -> Expr (objects, arrays, chains, numbers, strings, formats, whitespace)
    prune       what can never end is removed

Takes a parsed schema; gives a `SchemaGrammar`. Knows no tokens and no automata.
"""

from __future__ import annotations

from constrain.schema.front import SchemaGrammar, schema_grammar, unsatisfiable
from constrain.schema.keywords import KEYWORDS, Keyword, KeywordAnswer
from constrain.schema.options import SchemaOptions

__all__ = [
    "KEYWORDS",
    "Keyword",
    "KeywordAnswer",
    "SchemaGrammar",
    "SchemaOptions",
    "schema_grammar",
    "unsatisfiable",
]
