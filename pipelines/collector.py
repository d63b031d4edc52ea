"""Records in any order -> the sink, in input order; counted, and told to the observer on the way.

A record waits only while an earlier document is being worked on, so no more of them wait than the
others in the batch can finish meanwhile. Knows no model and no file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.confidence import Confidence
from pipelines.observer import Observer
from pipelines.records import Record
from pipelines.sinks import Sink
from pipelines.tally import FieldsTally

__all__ = ["Collector", "Outcome"]

_MAX_TOLD_ERRORS = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """A record and what the statistics want to know besides."""

    record: Record
    tokens: int = 0
    prompt_tokens: int = 0
    confidence: Mapping[str, Confidence] = field(default_factory=dict)


class Collector:
    """Takes the outcome of each document under its number (0, 1, ...), each number once."""

    def __init__(self, sink: Sink, tally: FieldsTally, observer: Observer) -> None:
        self._sink = sink
        self._tally = tally
        self._observer = observer
        self._waiting: dict[int, Outcome] = {}
        self._next = 0
        self.statuses: Counter[str] = Counter()
        self.stages: Counter[str] = Counter()
        self.keywords: Counter[str] = Counter()
        self.truncated = 0
        self.tokens = 0
        self.prompt_tokens = 0
        self.first_errors: list[str] = []

    def put(self, number: int, outcome: Outcome) -> None:
        """Take the outcome of document `number`; write all records whose turn has come."""
        self._waiting[number] = outcome
        while self._next in self._waiting:
            self._write(self._waiting.pop(self._next))
            self._next += 1

    def _write(self, outcome: Outcome) -> None:
        record = outcome.record
        self._sink.write(record)
        self._count(outcome)
        if record.status != "error":
            self._tally.add(record.value, outcome.confidence)
        self._observer.advanced(1, outcome.tokens)

    def _count(self, outcome: Outcome) -> None:
        record = outcome.record
        self.statuses[record.status] += 1
        self.tokens += outcome.tokens
        self.prompt_tokens += outcome.prompt_tokens
        self.truncated += "truncated_input" in record.meta
        self.stages.update({error.stage for error in record.errors})
        self.keywords.update({error.keyword for error in record.errors if error.keyword})
        if record.errors and len(self.first_errors) < _MAX_TOLD_ERRORS:
            self.first_errors.append(f"{record.id}: {record.errors[0].reason}")
