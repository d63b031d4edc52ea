"""Made-up results of a run, for tests of what the command line does with them."""

from __future__ import annotations

from typing import Any

from pipelines.stats import FieldStats
from pipelines.summary import RunSummary

__all__ = ["field_stats", "run_summary"]


def field_stats(name: str = "year", **changes: Any) -> FieldStats:
    """Return the statistics of an integer field over ten rows, with `changes`."""
    values: dict[str, Any] = {
        "name": name,
        "rows": 10,
        "present": 10,
        "null": 2,
        "distinct": 5,
        "distinct_is_floor": False,
        "types": (("integer", 8), ("null", 2)),
        "low": 1931,
        "high": 2021,
        "length_min": None,
        "length_mean": None,
        "length_max": None,
        "top": (("1999", 3), ("2021", 1)),
        "mean_logprob": -0.125,
        "mean_pressure": 0.03,
    }
    return FieldStats(**(values | changes))


def run_summary(**changes: Any) -> RunSummary:
    """Return the summary of ten good documents, with `changes`."""
    values: dict[str, Any] = {
        "documents": 10,
        "ok": 10,
        "invalid": 0,
        "error": 0,
        "tokens": 400,
        "prompt_tokens": 900,
        "seconds": 4.0,
        "fields": (field_stats(),),
    }
    return RunSummary(**(values | changes))
