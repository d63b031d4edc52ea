"""Per-field statistics: of a run as it goes on, and of an output file again.

Memory is bounded: a field remembers so many distinct values, a run so many fields; what is over is
counted and said. Knows no terminal; how a table looks is the command line's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from pipelines.confidence import Confidence
from pipelines.fields import walk_fields
from pipelines.jsontext import dumps_line

__all__ = ["MAX_FIELDS", "FieldStats", "FieldsTally"]

MAX_FIELDS = 1000
_MAX_DISTINCT = 10_000
_TOP = 5
_TOP_LENGTH = 60


@dataclass(frozen=True)
class FieldStats:
    """What the values of one field look like over all records with a value.

    `name` is dotted, array elements as `[]` (`authors[].family`; `.` is the whole value when it is
    no object). `rows` records have a value; the field is `present` so many times (elements of
    arrays each count), `null` of them null. `distinct` is exact unless `distinct_is_floor`.
    `types` counts JSON types. `low` and `high` bound the numbers, or the texts where there are no
    numbers. `length_*`: code points of texts, items of arrays. `top`: (value as text, count), the
    most frequent first. `mean_logprob` a token (natural log) and `mean_pressure` (probability the
    mask removed) are None where the output doesn't hold them.
    """

    name: str
    rows: int
    present: int
    null: int
    distinct: int
    distinct_is_floor: bool
    types: tuple[tuple[str, int], ...]
    low: int | float | str | None
    high: int | float | str | None
    length_min: int | None
    length_mean: float | None
    length_max: int | None
    top: tuple[tuple[str, int], ...]
    mean_logprob: float | None
    mean_pressure: float | None


class FieldsTally:
    """Collects values record by record; `finish` gives the statistics."""

    def __init__(self, first: Iterable[str] = ()) -> None:
        """Start with the fields named `first`, in that order."""
        self._rows = 0
        self._fields: dict[str, _Tally] = {name: _Tally() for name in first}
        self.fields_left_out = False

    def add(self, value: Any, confidence: Mapping[str, Confidence] | None = None) -> None:
        """Count one record's value, and how sure the model was of its fields."""
        self._rows += 1
        for name, item in walk_fields(value):
            tally = self._tally(name)
            if tally is not None:
                tally.add(item)
        for name, figures in (confidence or {}).items():
            tally = self._tally(name)
            if tally is not None:
                tally.add_confidence(figures)

    def finish(self) -> tuple[FieldStats, ...]:
        """Return the statistics of all fields."""
        return tuple(tally.finish(name, self._rows) for name, tally in self._fields.items())

    def _tally(self, name: str) -> _Tally | None:
        if name not in self._fields:
            if len(self._fields) >= MAX_FIELDS:
                self.fields_left_out = True
                return None
            self._fields[name] = _Tally()
        return self._fields[name]


class _Tally:
    """The running figures of one field."""

    def __init__(self) -> None:
        self.types: Counter[str] = Counter()
        self.values: Counter[str] = Counter()
        self.values_left_out = False
        self.numbers = _Range()
        self.texts = _Range()
        self.lengths = _Range()
        self.logprobs = _Range()
        self.pressures = _Range()

    def add(self, value: Any) -> None:
        kind = _json_type(value)
        self.types[kind] += 1
        if value is None:
            return
        self._count_value(value)
        if isinstance(value, str | list):
            self.lengths.add(len(value))
        if isinstance(value, str):
            self.texts.add(value[:_TOP_LENGTH])
        elif kind == "number":
            self.numbers.add(value)

    def add_confidence(self, confidence: Confidence) -> None:
        self.logprobs.add(confidence.logprob)
        self.pressures.add(confidence.pressure)

    def finish(self, name: str, rows: int) -> FieldStats:
        bounds = self.numbers if self.numbers.count else self.texts
        return FieldStats(
            name=name,
            rows=rows,
            present=self.types.total(),
            null=self.types["null"],
            distinct=len(self.values),
            distinct_is_floor=self.values_left_out,
            types=tuple(self.types.most_common()),
            low=bounds.low,
            high=bounds.high,
            length_min=self.lengths.low,
            length_mean=self.lengths.mean,
            length_max=self.lengths.high,
            top=tuple(self.values.most_common(_TOP)),
            mean_logprob=self.logprobs.mean,
            mean_pressure=self.pressures.mean,
        )

    def _count_value(self, value: Any) -> None:
        text = value if isinstance(value, str) else dumps_line(value)
        if len(text) > _TOP_LENGTH:
            rest = blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
            text = f"{text[:_TOP_LENGTH]}... ({len(text)} characters, {rest})"
        if text in self.values or len(self.values) < _MAX_DISTINCT:
            self.values[text] += 1
        else:
            self.values_left_out = True


class _Range:
    """Lowest, highest and mean of comparable values."""

    def __init__(self) -> None:
        self.count = 0
        self.low: Any = None
        self.high: Any = None
        self._sum: Any = 0

    def add(self, value: Any) -> None:
        self.low = value if self.low is None or value < self.low else self.low
        self.high = value if self.high is None or value > self.high else self.high
        self.count += 1
        if not isinstance(value, str):
            self._sum += value

    @property
    def mean(self) -> float | None:
        return round(self._sum / self.count, 6) if self.count else None


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
