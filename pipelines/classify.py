"""classify: documents -> one of a few labels, with a probability for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pipelines.collector import Outcome
from pipelines.columns import Scalar
from pipelines.config import ClassifyConfig
from pipelines.examples import Example, load_examples
from pipelines.labels import judge, label_tokens, load_labels
from pipelines.models import load
from pipelines.observer import Observer
from pipelines.prompts import Prompter, Task, Turn
from pipelines.records import Record
from pipelines.run import Run, open_run
from pipelines.summary import RunSummary
from pipelines.tally import FieldsTally
from pipelines.template import load_template
from pipelines.truncate import PromptEncoder
from pipelines.wording import MESSAGE_LEAD, label_task
from pipelines.work import Pending, Work

__all__ = ["classify"]


def classify(config: ClassifyConfig, observer: Observer) -> RunSummary:
    """Run the classification `config` describes.

    Raises ConfigError, InputError and OutputExistsError before any document is worked on;
    ModelError and OutputError also later. A document that fails has an `error` record.
    """
    labels = load_labels(config.labels)
    with open_run(config.inputs, config.output, observer) as run:
        examples = _examples(config, labels, run)
        prompter = _prompter(config, labels, examples)
        return _Classification(config, labels, examples, prompter, run).go()


class _Classification:
    """One run, from the loaded model on."""

    def __init__(
        self,
        config: ClassifyConfig,
        labels: tuple[str, ...],
        examples: tuple[Example, ...],
        prompter: Prompter,
        run: Run,
    ) -> None:
        self._config = config
        self._labels = labels
        self._run = run
        self._model = load(config.model, run.observer)
        tokenizer = self._model.tokenizer
        self._tokens = label_tokens(labels, tokenizer.encode, min(self._model.vocabulary.eos_ids))
        self._encoder = PromptEncoder(
            prompter,
            tokenizer,
            context_length=self._model.context_length,
            max_new_tokens=max(map(len, self._tokens)),
        )
        self._work = Work(run, examples)

    def go(self) -> RunSummary:
        """Work on all documents and sum up."""
        tally = FieldsTally()
        with self._run.collecting(Scalar("string"), tally) as collector:
            baseline = self._baseline()
            documents = ((document, lambda: self._encoder) for document in self._run.documents())
            prompts = self._work.prompts(collector, documents)
            for number, scores in self._score((n, encoded.ids) for n, encoded, _ in prompts):
                collector.put(number, self._outcome(self._work.take(number), scores, baseline))
        about = {"command": "classify", "model": self._model.name, "labels": list(self._labels)}
        return self._run.summary(collector, tally, about)

    def _baseline(self) -> Sequence[float]:
        """Return the labels' scores under an empty document, or zeros."""
        if not self._config.labels.calibrate:
            return [0.0] * len(self._labels)
        [(_, scores)] = self._score(iter([(0, self._encoder.encode_empty().ids)]))
        return scores

    def _score(
        self, prompts: Iterator[tuple[int, tuple[int, ...]]]
    ) -> Iterator[tuple[int, Sequence[float]]]:
        from constrain.decoding.labels import score_labels  # noqa: PLC0415

        found = score_labels(
            self._model,
            prompts,
            self._tokens,
            batch_size=self._config.labels.batch_size,
            shared_prefix=self._encoder.shared_prefix,
        )
        for number, scores in found:
            yield number, scores.tolist()

    def _outcome(
        self,
        pending: Pending,
        scores: Sequence[float],
        baseline: Sequence[float],
    ) -> Outcome:
        verdict = judge(self._labels, scores, baseline)
        named = zip(self._labels, verdict.probabilities, strict=True)
        meta: dict[str, Any] = {
            "model": self._model.name,
            "prompt_tokens": pending.prompt_tokens,
            "probability": round(max(verdict.probabilities), 4),
            "margin": round(verdict.margin, 4),
            "runner_up": verdict.runner_up,
            "probabilities": {label: round(p, 4) for label, p in named},
        }
        if self._config.labels.scores:
            meta["scores"] = _by_label(self._labels, scores)
            meta["baseline"] = _by_label(self._labels, baseline)
        meta |= pending.meta()
        document = pending.document
        record = Record(document.id, "ok", verdict.label, keep=document.keep, meta=meta)
        return Outcome(record, prompt_tokens=pending.prompt_tokens)


def _by_label(labels: Sequence[str], scores: Sequence[float]) -> dict[str, float]:
    return {label: round(score, 4) for label, score in zip(labels, scores, strict=True)}


def _examples(config: ClassifyConfig, labels: tuple[str, ...], run: Run) -> tuple[Example, ...]:
    if config.prompt.examples is None:
        return ()

    def check(value: Any) -> str | None:
        return None if _label_of(value, labels) in labels else f"{value!r} is none of the labels"

    return load_examples(config.prompt.examples, check, run.documents)


def _label_of(value: Any, labels: tuple[str, ...]) -> Any:
    """Return the label of a golden value: itself, or the one value of an object that is a label."""
    if not isinstance(value, dict):
        return value
    found = [item for item in value.values() if item in labels]
    return found[0] if len(found) == 1 else value


def _prompter(
    config: ClassifyConfig, labels: tuple[str, ...], examples: tuple[Example, ...]
) -> Prompter:
    turns = tuple(Turn(e.document, str(_label_of(e.value, labels))) for e in examples)
    shown = [{"text": turn.document.text, "value": turn.answer} for turn in turns]
    variables = {"choices": labels, "examples": shown}
    path = config.prompt.file
    template = load_template(path, {*variables, *config.inputs.keep}) if path else None
    system = config.prompt.system
    if system is None:
        system = label_task() if template is None else ""
    return Prompter(Task(system, MESSAGE_LEAD, turns, variables), template)
