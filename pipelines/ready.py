"""Ready: a constraint with all that a run needs to ask documents under it.

Takes constraints and what a user wrote about prompts; gives their prompts, and with a model's
tables the whole. Compiles nothing, and knows no batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.answers import Answers
from pipelines.config import ExtractConfig
from pipelines.constraint import Constraint
from pipelines.documents import Document
from pipelines.examples import Example
from pipelines.prompts import Prompter, Task, Turn
from pipelines.template import load_template
from pipelines.truncate import Encoded, PromptEncoder

if TYPE_CHECKING:
    from constrain.decoding.model import LanguageModel
    from constrain.tables import CompiledConstraint

__all__ = ["Prompts", "Ready", "make_ready"]

_OF_A_SCHEMA = ("schema", "fields")
"""What a template may use of a schema that is not known yet."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A constraint: compiled, with the prompts it asks by and the outcomes of its answers."""

    compiled: CompiledConstraint
    encoder: PromptEncoder
    answers: Answers

    def encode(self, document: Document) -> Encoded:
        """Return the prompt of a document; raise `DocumentError` when there can be none."""
        return self.encoder.encode(document)


class Prompts:
    """Builds the prompter of each constraint."""

    def __init__(
        self, config: ExtractConfig, constraint: Constraint | None, examples: tuple[Example, ...]
    ) -> None:
        """Read the template, if any; raise `ConfigError` for it, or examples that can't be shown.

        `constraint` is the common one; without it there are schemas of rows alone.
        """
        self._system = config.prompt.system
        self._examples = examples
        known = _OF_A_SCHEMA if constraint is None else tuple(constraint.variables)
        path = config.prompt.file
        names = {*known, "examples", *config.inputs.keep}
        self._template = load_template(path, names) if path else None
        if constraint is not None:
            self.prompter(constraint)  # what is wrong is told before a model is loaded

    def prompter(self, constraint: Constraint) -> Prompter:
        """Return the prompter for one constraint; raise `ConfigError` when an example can't be."""
        shown = [{"text": e.document.text, "value": e.value} for e in self._examples]
        variables = {**constraint.variables, "examples": shown}
        system = self._system
        if system is None:
            system = constraint.instruction if self._template is None else ""
        turns = tuple(Turn(e.document, constraint.spell(e.value)) for e in self._examples)
        return Prompter(Task(system, "", turns, variables), self._template)


def make_ready(
    constraint: Constraint,
    compiled: CompiledConstraint,
    prompter: Prompter,
    model: LanguageModel,
    max_new_tokens: int,
) -> Ready:
    """Return the constraint ready for a model; raise `ConfigError` when its prompt is too long."""
    encoder = PromptEncoder(
        prompter,
        model.tokenizer,
        context_length=model.context_length,
        max_new_tokens=max_new_tokens,
    )
    return Ready(compiled, encoder, Answers(constraint, model, max_new_tokens))
