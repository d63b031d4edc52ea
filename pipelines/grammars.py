"""A grammar as a constraint: text that a context-free grammar allows.

Takes a file in GBNF or Lark's EBNF; gives a Constraint (see constraint). Knows no documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constrain.errors import GrammarError
from constrain.syntax.grammar import GrammarFormat, grammar_format, read_grammar
from pipelines.columns import Column, Scalar
from pipelines.errors import ConfigError
from pipelines.validate import Fault
from pipelines.wording import grammar_task

if TYPE_CHECKING:
    from constrain.masks import MaskCache
    from constrain.tables import CompiledConstraint
    from constrain.vocabulary import Vocabulary

__all__ = ["GrammarConstraint", "load_grammar"]


def load_grammar(path: str, format_name: GrammarFormat | None) -> GrammarConstraint:
    """Read a grammar, and let the engine read it before anything else does.

    Raises ConfigError when there is no such text, GrammarError for what is wrong in it.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"the grammar cannot be read ({error.strerror})", place=path) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"byte {error.start} is not UTF-8", place=path) from None
    chosen = format_name or grammar_format(text)
    try:
        read_grammar(text, chosen)
    except GrammarError as error:
        error.add_note(f"in {path}, read as {chosen}; --grammar-format says otherwise")
        raise
    return GrammarConstraint(text, chosen)


@dataclass(frozen=True)
class GrammarConstraint:
    """Text that a grammar allows."""

    text: str
    format: GrammarFormat
    is_json = False

    @property
    def column(self) -> Column:
        """Return the column type of its values."""
        return Scalar("string")

    @property
    def instruction(self) -> str:
        """Return what the model is told to do."""
        return grammar_task(self.text)

    @property
    def variables(self) -> dict[str, Any]:
        """Return what a prompt template may use of it."""
        return {"grammar": self.text}

    def compile(self, vocabulary: Vocabulary) -> CompiledConstraint:
        """Compile the grammar, or take it from the store."""
        from constrain.compiler import compile_grammar  # noqa: PLC0415
        from constrain.store import default_store  # noqa: PLC0415

        return compile_grammar(self.text, vocabulary, self.format, store=default_store())

    def parse(self, text: str) -> Any:
        """Return the text itself."""
        return text

    def spell(self, value: Any) -> str:
        """Return the text itself."""
        return str(value)

    def faults(self, value: Any) -> Sequence[Fault]:
        """Return whether the grammar allows no such text, by its bytes and not by tokens."""
        from constrain.matcher import Matcher  # noqa: PLC0415

        if not isinstance(value, str):
            return [Fault("", "type", f"{value!r} is no text")]
        matcher = Matcher(self._bytewise.compiled, self._bytewise)
        data = value.encode("utf-8", "surrogatepass")
        if matcher.accept_bytes(data) and matcher.is_accepting():
            return []
        return [Fault("", "grammar", f"the grammar does not allow {value!r}")]

    @cached_property
    def _bytewise(self) -> MaskCache:
        from constrain.compiler import compile_grammar  # noqa: PLC0415
        from constrain.masks import MaskCache  # noqa: PLC0415
        from constrain.vocabulary import Vocabulary  # noqa: PLC0415

        bytes_only = Vocabulary.of([*(bytes([b]) for b in range(256)), None], [256])
        return MaskCache(compile_grammar(self.text, bytes_only, self.format))
