"""Statistics on disk: `NAME.stats.json` beside an output, and an output read once more.

Takes JSONL or Parquet that we wrote (whole records or bare values), gives the same figures that
the run gave.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines.confidence import Confidence
from pipelines.errors import InputError
from pipelines.jsontext import JsonError, jsonable, loads_strict
from pipelines.sinks.partial import writing
from pipelines.stats import FieldsTally, FieldStats

__all__ = ["StatsFile", "read_stats", "stats_path", "write_stats"]

_RECORD_KEYS = frozenset({"id", "status", "value", "meta"})


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
    if not path.is_file():
        raise InputError("no such output file", place=str(path), remedy="check the path")
    tally = FieldsTally()
    counts: Counter[str] = Counter()
    rows = _parquet_rows(path) if path.suffix.lower() == ".parquet" else _jsonl_rows(path)
    for row in rows:
        counts[row["status"]] += 1
        if row["status"] != "error":
            tally.add(row["value"], _confidence(row.get("meta") or {}))
    return StatsFile(
        counts.total(), counts["ok"], counts["invalid"], counts["error"], tally.finish()
    )


def _confidence(meta: Mapping[str, Any]) -> Mapping[str, Confidence]:
    logprobs, pressures = meta.get("logprobs", {}), meta.get("pressures", {})
    return {name: Confidence(value, pressures.get(name, 0.0)) for name, value in logprobs.items()}


def _jsonl_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = loads_strict(line.decode("utf-8"))
            except (JsonError, UnicodeDecodeError) as error:
                place = f"{path}, line {number}"
                raise InputError(f"not a record ({error})", place=place) from None
            yield row if _is_record(row) else {"status": "ok", "value": row}


def _is_record(row: Any) -> bool:
    return isinstance(row, dict) and row.keys() >= _RECORD_KEYS


def _parquet_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with closing(pq.ParquetFile(path)) as file:
            names = file.schema_arrow.names
            if not set(names) >= _RECORD_KEYS:
                fact = f"not an output of ours; it has the columns {', '.join(names[:12])}"
                raise InputError(fact, place=str(path))
            for batch in file.iter_batches(256, columns=sorted(_RECORD_KEYS)):
                for row in batch.to_pylist():
                    yield {**row, "value": jsonable(row["value"]), "meta": json.loads(row["meta"])}
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read as Parquet ({error})", place=str(path)) from None
