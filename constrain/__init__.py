"""constrain: the engine that compiles a constraint into token masks.

    compiled = compile_schema({"type": "integer"}, vocabulary)
    matcher = Matcher(compiled)
    matcher.fill_next_token_bitmask(bitmask)

Names are loaded on first use, so importing the package costs nothing and never loads torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from constrain.compiler import (
        compile_choices,
        compile_grammar,
        compile_json,
        compile_regex,
        compile_schema,
        compile_tags,
    )
    from constrain.decoding.logits_processor import ConstraintLogitsProcessor
    from constrain.decoding.model import vocabulary_of
    from constrain.errors import ConstrainError
    from constrain.limits import Limits
    from constrain.masks import MaskCache
    from constrain.matcher import Matcher
    from constrain.schema import SchemaOptions
    from constrain.tables import CompiledConstraint
    from constrain.vocabulary import Vocabulary

__all__ = [
    "CompiledConstraint",
    "ConstrainError",
    "ConstraintLogitsProcessor",
    "Limits",
    "MaskCache",
    "Matcher",
    "SchemaOptions",
    "Vocabulary",
    "__version__",
    "compile_choices",
    "compile_grammar",
    "compile_json",
    "compile_regex",
    "compile_schema",
    "compile_tags",
    "vocabulary_of",
]

__version__ = "0.1.0"

_HOMES = {
    "CompiledConstraint": "constrain.tables",
    "ConstrainError": "constrain.errors",
    "ConstraintLogitsProcessor": "constrain.decoding.logits_processor",
    "Limits": "constrain.limits",
    "MaskCache": "constrain.masks",
    "Matcher": "constrain.matcher",
    "SchemaOptions": "constrain.schema",
    "Vocabulary": "constrain.vocabulary",
    "compile_choices": "constrain.compiler",
    "compile_grammar": "constrain.compiler",
    "compile_json": "constrain.compiler",
    "compile_regex": "constrain.compiler",
    "compile_schema": "constrain.compiler",
    "compile_tags": "constrain.compiler",
    "vocabulary_of": "constrain.decoding.model",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its home (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(home), name)
