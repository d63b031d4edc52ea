"""Per-field statistics of a run (being written)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["FieldStats", "StatsFile", "read_stats"]


@dataclass(frozen=True)
class FieldStats:
    """What the values of one field look like over all records with a value.

    `name` is dotted, array elements as `[]` (`authors[].family`; `.` is the whole value when it is
    no object). `present` rows have the key, `null` of them hold null. `distinct` is exact unless
    `distinct_is_floor`. `types` counts JSON types. `low`/`high` numbers (or texts, compared as
    text). `length_*`: code points of a text, items of an array. `top`: (value as text, count).
    `mean_logprob` per token (natural log) and `mean_pressure` (probability the mask removed), or
    None when the output doesn't hold them.
    """

    name: str
    rows: int
    present: int
    null: int
    distinct: int
    distinct_is_floor: bool
    types: tuple[tuple[str, int], ...]
    low: Any
    high: Any
    length_min: int | None
    length_mean: float | None
    length_max: int | None
    top: tuple[tuple[str, int], ...]
    mean_logprob: float | None
    mean_pressure: float | None


@dataclass(frozen=True)
class StatsFile:
    """Statistics computed from an output file: counts by status, and the fields."""

    documents: int
    ok: int
    invalid: int
    error: int
    fields: tuple[FieldStats, ...]


def read_stats(path: Path) -> StatsFile:
    """Compute the statistics of an output file (.jsonl or .parquet, also bare values)."""
    raise NotImplementedError(path)
