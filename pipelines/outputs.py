"""An output file of ours -> its records again, from JSONL or Parquet; bare values count as ok."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pipelines.arrow import from_arrow
from pipelines.errors import InputError
from pipelines.jsontext import JsonError, loads_strict

__all__ = ["read_records"]

_RECORD_KEYS = frozenset({"id", "status", "value", "meta"})


def read_records(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield each record as JSON values; raise `InputError` for what is no output of ours.

    A bare value is given as `{"status": "ok", "value": value}`.
    """
    if not path.is_file():
        raise InputError("no such output file", place=str(path), remedy="check the path")
    return _parquet_rows(path) if path.suffix.lower() == ".parquet" else _jsonl_rows(path)


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
            schema = file.schema_arrow
            if not set(schema.names) >= _RECORD_KEYS:
                fact = f"not an output of ours; it has the columns {', '.join(schema.names[:12])}"
                raise InputError(fact, place=str(path))
            for batch in file.iter_batches(256):
                for row in batch.to_pylist():
                    found = {name: from_arrow(row[name], schema.field(name)) for name in row}
                    yield {**found, "meta": json.loads(row["meta"])}
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read as Parquet ({error})", place=str(path)) from None
