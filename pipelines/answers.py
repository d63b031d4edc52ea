"""A generated text -> the outcome of its document: parsed, validated, with its figures.

Whatever goes wrong with one answer becomes that document's record; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipelines.collector import Outcome
from pipelines.confidence import Confidence, field_confidence
from pipelines.constraint import Constraint
from pipelines.errors import DocumentError
from pipelines.jsontext import JsonError
from pipelines.records import Record, RecordError, error_record
from pipelines.work import Pending

if TYPE_CHECKING:
    from constrain.decoding.model import LanguageModel
    from constrain.decoding.options import Generation

__all__ = ["Answers"]


class Answers:
    """Makes outcomes of generations."""

    def __init__(self, constraint: Constraint, model: LanguageModel, max_new_tokens: int) -> None:
        self._constraint = constraint
        self._model = model
        self._max_new_tokens = max_new_tokens

    def outcome(self, pending: Pending, generation: Generation) -> Outcome:
        """Return the outcome of a document whose answer is generated."""
        confidence: Mapping[str, Confidence] = {}
        try:
            value = self._value(generation)
            record = self._judged(pending, value)
            confidence = self._confidence(generation)
        except DocumentError as error:
            record = error_record(pending.document, error)
        except RecursionError:
            too_deep = DocumentError("the answer is nested too deeply", stage="parse")
            record = error_record(pending.document, too_deep)
        meta = self._meta(pending, generation, confidence)
        if record.status == "error":
            meta["partial"] = generation.text
        done = Record(record.id, record.status, record.value, record.errors, record.keep, meta)
        return Outcome(done, len(generation.token_ids), generation.prompt_tokens, confidence)

    def _value(self, generation: Generation) -> Any:
        if generation.stop == "length" and not generation.complete:
            fact = f"the answer was not finished after {self._max_new_tokens} tokens"
            raise DocumentError(fact, stage="generate", remedy="raise --max-new-tokens")
        if not generation.complete:
            fact = "no token of this model can continue the answer"
            raise DocumentError(fact, stage="generate", remedy="use another model or constraint")
        try:
            return self._constraint.parse(generation.text)
        except JsonError as error:
            raise DocumentError(f"the answer can't be read: {error}", stage="parse") from None

    def _judged(self, pending: Pending, value: Any) -> Record:
        document = pending.document
        faults = self._constraint.faults(value)
        errors = tuple(RecordError("validate", f.reason, f.pointer, f.keyword) for f in faults)
        return Record(document.id, "invalid" if errors else "ok", value, errors, document.keep)

    def _confidence(self, generation: Generation) -> Mapping[str, Confidence]:
        if not self._constraint.is_json:
            return {}
        pieces = [self._model.tokenizer.token_bytes(i) or b"" for i in generation.token_ids]
        lengths = [len(piece) for piece in pieces]
        return field_confidence(
            b"".join(pieces), lengths, generation.logprobs, generation.pressures
        )

    def _meta(
        self, pending: Pending, generation: Generation, confidence: Mapping[str, Confidence]
    ) -> dict[str, Any]:
        meta: dict[str, Any] = {
            "model": self._model.name,
            "tokens": len(generation.token_ids),
            "prompt_tokens": generation.prompt_tokens,
        }
        if generation.token_ids:
            meta["logprob"] = _mean(generation.logprobs)
            meta["pressure"] = _mean(generation.pressures)
        if confidence:
            meta["logprobs"] = {k: _rounded(c.logprob) for k, c in confidence.items()}
            meta["pressures"] = {k: _rounded(c.pressure) for k, c in confidence.items()}
        return meta | pending.meta()


def _mean(figures: Sequence[float]) -> float:
    return _rounded(sum(figures) / len(figures))


def _rounded(figure: float) -> float:
    return round(figure, 4) + 0.0  # + 0.0: no -0.0
