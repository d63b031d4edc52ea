"""extract: documents -> records that satisfy a constraint, one a document, whatever fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pipelines.answers import Answers
from pipelines.collector import Collector
from pipelines.config import ExtractConfig
from pipelines.constraint import Constraint, load_constraint
from pipelines.examples import Example, load_examples
from pipelines.models import load
from pipelines.observer import Observer
from pipelines.prompts import Prompter, Task, Turn
from pipelines.run import Run, open_run
from pipelines.summary import RunSummary
from pipelines.tally import FieldsTally
from pipelines.template import load_template
from pipelines.truncate import PromptEncoder
from pipelines.work import Work

if TYPE_CHECKING:
    from constrain.decoding.options import DecodeOptions, Request
    from constrain.tables import CompiledConstraint

__all__ = ["extract"]

_MAX_TOLD_KEYWORDS = 10


def extract(config: ExtractConfig, observer: Observer) -> RunSummary:
    """Run the extraction `config` describes.

    Raises ConfigError, InputError, OutputExistsError and the engine's ConstraintError before any
    document is worked on; ModelError and OutputError also later. A document that fails raises
    nothing: it has an `error` record.
    """
    constraint = load_constraint(config.constraint)
    with open_run(config.inputs, config.output, observer) as run:
        examples = _examples(config, constraint, run)
        prompter = _prompter(config, constraint, examples)
        return _Extraction(config, constraint, examples, prompter, run).go()


class _Extraction:
    """One run, from the loaded model on."""

    def __init__(
        self,
        config: ExtractConfig,
        constraint: Constraint,
        examples: tuple[Example, ...],
        prompter: Prompter,
        run: Run,
    ) -> None:
        self._config = config
        self._constraint = constraint
        self._run = run
        self._model = load(config.model, run.observer)
        self._compiled = self._compile()
        self._encoder = PromptEncoder(
            prompter,
            self._model.tokenizer,
            context_length=self._model.context_length,
            max_new_tokens=config.decoding.max_new_tokens,
        )
        self._work = Work(run, self._encoder, examples)

    def go(self) -> RunSummary:
        """Work on all documents and sum up."""
        tally = FieldsTally()
        with self._run.collecting(self._constraint.column, tally) as collector:
            self._generate(collector)
        about = {"command": "extract", "model": self._model.name}
        return self._run.summary(collector, tally, about)

    def _generate(self, collector: Collector) -> None:
        from constrain.decoding.loop import generate  # noqa: PLC0415

        limit = self._config.decoding.max_new_tokens
        answers = Answers(self._constraint, self._model, limit)
        generations = generate(
            self._model,
            self._requests(collector),
            self._options(),
            shared_prefix=self._encoder.shared_prefix,
        )
        for generation in generations:
            pending = self._work.take(generation.key)
            collector.put(generation.key, answers.outcome(pending, generation))

    def _requests(self, collector: Collector) -> Iterator[Request]:
        from constrain.decoding.options import Request  # noqa: PLC0415

        for number, encoded in self._work.prompts(collector):
            yield Request(number, encoded.ids, self._compiled)

    def _options(self) -> DecodeOptions:
        from constrain.decoding.options import DecodeOptions  # noqa: PLC0415

        return DecodeOptions(**self._config.decoding.model_dump())

    def _compile(self) -> CompiledConstraint:
        self._run.observer.stage("compiling the constraint")
        compiled = self._constraint.compile(self._model.vocabulary)
        checked = [note for note in compiled.notes if note.answer == "checked"]
        for note in compiled.notes:
            if note.answer == "warning":
                self._run.warn(f"{note.pointer}: {note.text}")
        for note in checked[:_MAX_TOLD_KEYWORDS]:
            told = f" ({note.text})" if note.text else ""
            self._run.warn(f"at #{note.pointer}: {note.keyword!r} is only checked afterwards{told}")
        if len(checked) > _MAX_TOLD_KEYWORDS:
            self._run.warn(f"{len(checked)} keywords in all are only checked afterwards")
        return compiled


def _examples(config: ExtractConfig, constraint: Constraint, run: Run) -> tuple[Example, ...]:
    if config.prompt.examples is None:
        return ()

    def check(value: Any) -> str | None:
        faults = constraint.faults(value)
        return f"at #{faults[0].pointer}: {faults[0].reason}" if faults else None

    return load_examples(config.prompt.examples, check, run.documents)


def _prompter(
    config: ExtractConfig, constraint: Constraint, examples: tuple[Example, ...]
) -> Prompter:
    shown = [{"text": e.document.text, "value": e.value} for e in examples]
    variables = {**constraint.variables, "examples": shown}
    path = config.prompt.file
    template = load_template(path, {*variables, *config.inputs.keep}) if path else None
    system = config.prompt.system
    if system is None:
        system = constraint.instruction if template is None else ""
    turns = tuple(Turn(e.document, constraint.spell(e.value)) for e in examples)
    return Prompter(Task(system, "", turns, variables), template)
