"""Statistics on disk: `NAME.stats.json` beside an output, and an output read once more.

Takes an output of ours, gives the same figures that the run gave; but a missing key of a Parquet
row reads as null.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines.confidence import Confidence
from pipelines.outputs import read_records
from pipelines.sinks.partial import writing
from pipelines.tally import FieldsTally, FieldStats

__all__ = ["FieldStats", "StatsFile", "read_stats", "stats_path", "write_stats"]


@dataclass(frozen=True)
class StatsFile:
    """Statistics computed from an output file: counts by status, and the fields.

    Bare values all count as `ok`: a bare file doesn't say how its records fared.
    """

    documents: int
    ok: int
    invalid: int
    error: int
    fields: tuple[FieldStats, ...]


def stats_path(output: Path) -> Path:
    """Return where the statistics of an output lie: `out.jsonl` has `out.stats.json`."""
    return output.with_name(f"{output.stem}.stats.json")


def write_stats(output: Path, run: Mapping[str, Any], fields: Iterable[FieldStats]) -> Path:
    """Write the statistics beside `output` and return their path; raise `OutputError`."""
    path = stats_path(output)
    content = {"version": 1, "run": dict(run), "fields": [asdict(field) for field in fields]}
    with writing(path):
        unnamed = path.with_name(path.name + ".partial")
        unnamed.write_text(json.dumps(content, indent=2, ensure_ascii=True) + "\n", "utf-8")
        unnamed.replace(path)
    return path


def read_stats(path: Path) -> StatsFile:
    """Compute the statistics of an output; raise `InputError` for what isn't one."""
    tally = FieldsTally()
    counts: Counter[str] = Counter()
    for row in read_records(path):
        counts[row["status"]] += 1
        if row["status"] != "error":
            tally.add(row["value"], _confidence(row.get("meta") or {}))
    return StatsFile(
        counts.total(), counts["ok"], counts["invalid"], counts["error"], tally.finish()
    )


def _confidence(meta: Mapping[str, Any]) -> Mapping[str, Confidence]:
    logprobs, pressures = meta.get("logprobs", {}), meta.get("pressures", {})
    return {name: Confidence(value, pressures.get(name, 0.0)) for name, value in logprobs.items()}
