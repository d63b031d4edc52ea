"""A Jinja file that a user wrote -> the user message of each document.

Variables: `document` (its text), `id`, `keep` (kept columns, each also under its own name),
`schema`, `fields` (the outline), `choices`, `regex`, `grammar`, `tags`, `examples` (each with
`.text` and `.value`). Sandboxed, and a name that isn't known is an error. Knows no tokenizer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pipelines.documents import Document
from pipelines.errors import ConfigError, DocumentError

__all__ = ["PromptTemplate", "load_template"]

_OF_THE_TASK = frozenset(
    {"document", "schema", "fields", "choices", "regex", "grammar", "tags", "examples"}
)


class PromptTemplate:
    """A compiled template."""

    def __init__(self, template: Template, names: frozenset[str], place: str) -> None:
        self._template = template
        self._names = names
        self._place = place

    @property
    def uses_examples(self) -> bool:
        """Whether it shows the examples itself."""
        return "examples" in self._names

    @property
    def uses_row(self) -> bool:
        """Whether its text depends on more of a document than its text."""
        return not self._names <= _OF_THE_TASK

    def render(self, text: str, document: Document, variables: Mapping[str, Any]) -> str:
        """Return the message with `text` as the document; raise `DocumentError` if it fails."""
        values = {**document.keep, **variables, "keep": document.keep, "id": document.id}
        try:
            return self._template.render({**values, "document": text})
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            fact = f"the prompt cannot be made ({error})"
            raise DocumentError(fact, stage="prompt", place=self._place) from None


def load_template(path: str, known: Collection[str]) -> PromptTemplate:
    """Compile the template in a file; raise `ConfigError` with the line that is wrong.

    `known` names the variables there will be, besides `document`, `id` and `keep`.
    """
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    try:
        source = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"the prompt cannot be read ({error.strerror})", place=path) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"byte {error.start} is not UTF-8", place=path) from None
    try:
        names = meta.find_undeclared_variables(environment.parse(source))
        template = environment.from_string(source)
    except TemplateSyntaxError as error:
        raise ConfigError(str(error.message), place=f"{path}, line {error.lineno}") from None
    if "document" not in names:
        remedy = "write {{ document }} where its text belongs"
        raise ConfigError("the prompt never shows the document", place=path, remedy=remedy)
    unknown = sorted(names - {*known, "document", "id", "keep"})
    if unknown:
        have = ", ".join(sorted({*known, "document", "id", "keep"}))
        fact = f"the prompt uses {unknown[0]!r}, which is not known"
        raise ConfigError(fact, place=path, remedy=f"there are {have}; --keep adds columns")
    return PromptTemplate(template, frozenset(names), path)
