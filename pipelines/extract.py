"""extract: documents -> records that satisfy a constraint, one a document, whatever fails."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pipelines.answers import Answers
from pipelines.collector import Collector
from pipelines.columns import Column, Json
from pipelines.config import ExtractConfig
from pipelines.constraint import Constraint, load_constraint, schema_options
from pipelines.documents import Document, Unread
from pipelines.examples import Example, load_examples
from pipelines.models import load
from pipelines.observer import Observer
from pipelines.own_schemas import Choice, OwnSchemas
from pipelines.ready import Prompts, Ready, make_ready
from pipelines.run import Run, open_run
from pipelines.summary import RunSummary
from pipelines.tally import FieldsTally
from pipelines.truncate import Encoded
from pipelines.work import Work

if TYPE_CHECKING:
    from constrain.decoding.options import DecodeOptions, Request
    from constrain.tables import CompiledConstraint

__all__ = ["extract"]

_MAX_TOLD_KEYWORDS = 10
_BATCHES_AHEAD = 16
"""Twice what the decode loop reads at one time: while it decodes that, the next is compiled."""


def extract(config: ExtractConfig, observer: Observer) -> RunSummary:
    """Run the extraction `config` describes.

    Raises ConfigError, InputError, OutputExistsError and the engine's ConstraintError before any
    document is worked on; ModelError and OutputError also later. A document that fails raises
    nothing: it has an `error` record.
    """
    common = load_constraint(config.constraint)
    with open_run(config.reading, config.output, observer) as run:
        examples = _examples(config, common, run)
        prompts = Prompts(config, common, examples)
        extraction = _Extraction(config, common, prompts, run)
        return extraction.go(Work(run, examples), _column(config, common))


class _Extraction:
    """One run, from the loaded model on.

    `common` is the constraint of all documents but those with a schema of their own.
    """

    def __init__(
        self, config: ExtractConfig, common: Constraint | None, prompts: Prompts, run: Run
    ) -> None:
        self._config = config
        self._prompts = prompts
        self._run = run
        self._model = load(config.model, run.observer)
        self._common = None if common is None else self._ready(common, self._compile(common))
        self._answers: dict[int, Answers] = {}

    def go(self, work: Work, column: Column) -> RunSummary:
        """Work on all documents and sum up; `column` is the type of all values."""
        tally = FieldsTally()
        with self._run.collecting(column, tally) as collector:
            self._generate(work, collector)
        about = {"command": "extract", "model": self._model.name}
        return self._run.summary(collector, tally, about)

    def _generate(self, work: Work, collector: Collector) -> None:
        from constrain.decoding.loop import generate  # noqa: PLC0415

        with closing(self._documents()) as documents:
            generations = generate(
                self._model,
                self._requests(work.prompts(collector, documents)),
                self._options(),
                shared_prefix=self._common.encoder.shared_prefix if self._common else (),
            )
            for generation in generations:
                pending = work.take(generation.key)
                answers = self._answers.pop(generation.key)
                collector.put(generation.key, answers.outcome(pending, generation))

    def _requests(self, prompts: Iterable[tuple[int, Encoded, Ready]]) -> Iterator[Request]:
        from constrain.decoding.options import Request  # noqa: PLC0415

        for number, encoded, ready in prompts:
            self._answers[number] = ready.answers
            yield Request(number, encoded.ids, ready.compiled)

    def _documents(self) -> Generator[tuple[Document | Unread, Choice]]:
        """Yield every document with a function that gives what it is asked under."""
        field = self._config.constraint.schema_field
        if field is None:
            yield from ((document, self._always) for document in self._run.documents())
            return
        options = schema_options(self._config.constraint)
        own = OwnSchemas(field, options, self._model.vocabulary, self._own_ready, self._common)
        ahead = _BATCHES_AHEAD * self._config.decoding.batch_size
        yield from own.ahead(self._run.documents(), ahead)
        if not own.seen:
            self._run.warn(f"no document has a schema of its own in the field {field!r}")

    def _always(self) -> Ready:
        assert self._common is not None  # the config asks for it, or for schemas of rows
        return self._common

    def _ready(self, constraint: Constraint, compiled: CompiledConstraint) -> Ready:
        limit = self._config.decoding.max_new_tokens
        prompter = self._prompts.prompter(constraint)
        return make_ready(constraint, compiled, prompter, self._model, limit)

    def _own_ready(self, constraint: Constraint, compiled: CompiledConstraint) -> Ready:
        for keyword in {note.keyword for note in compiled.notes if note.answer == "checked"}:
            self._run.warn(f"in schemas of documents, {keyword!r} is only checked afterwards")
        return self._ready(constraint, compiled)

    def _options(self) -> DecodeOptions:
        from constrain.decoding.options import DecodeOptions  # noqa: PLC0415

        return DecodeOptions(**self._config.decoding.model_dump())

    def _compile(self, constraint: Constraint) -> CompiledConstraint:
        self._run.observer.stage("compiling the constraint")
        compiled = constraint.compile(self._model.vocabulary)
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


def _examples(
    config: ExtractConfig, constraint: Constraint | None, run: Run
) -> tuple[Example, ...]:
    if config.prompt.examples is None or constraint is None:
        return ()

    def check(value: Any) -> str | None:
        faults = constraint.faults(value)
        return f"at #{faults[0].pointer}: {faults[0].reason}" if faults else None

    return load_examples(config.prompt.examples, check, run.documents)


def _column(config: ExtractConfig, common: Constraint | None) -> Column:
    """Return the type of all values; those of many schemas have none in common."""
    if common is None or config.constraint.schema_field is not None:
        return Json()
    return common.column
