"""Parquet: the columns of a record, `value` typed by the schema.

Records first go, line by line, to `NAME.partial` (JSON Lines), while the columns widen to hold
every value exactly (see columns.py); at the end they are written as Parquet to a temporary name
and renamed. So a run that fails keeps its records, and memory holds one chunk of rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pipelines.arrow import arrow_field, to_arrow
from pipelines.columns import Column, List, Scalar, Struct, Unseen, widen
from pipelines.jsontext import dumps_line
from pipelines.records import Record, to_line
from pipelines.sinks.partial import PartialFile, settle, writing

if TYPE_CHECKING:
    from pipelines.config import OutputConfig

__all__ = ["ParquetSink"]

_CHUNK_ROWS = 1000
_TEXT = Scalar("string")
_ERRORS = List(Struct(dict.fromkeys(("stage", "reason", "pointer", "keyword"), _TEXT)))


class ParquetSink:
    """Collects lines, then writes columns."""

    def __init__(self, config: OutputConfig, value: Column) -> None:
        self._lines = PartialFile(config)
        self._value = value
        self._keep: Column = Struct()

    def __enter__(self) -> Self:
        return self

    def write(self, record: Record) -> None:
        """Append the record, and widen the columns for it."""
        self._value = widen(self._value, record.value)
        if record.keep and isinstance(self._keep, Struct):
            new = {name: Unseen() for name in record.keep if name not in self._keep.fields}
            self._keep = widen(Struct({**self._keep.fields, **new}), dict(record.keep))
        self._lines.write(to_line(record))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        settle(self._lines, error, self._publish)

    def _publish(self) -> None:
        self._lines.finish()
        finished = self._lines.output.with_name(self._lines.output.name + ".writing")
        try:
            with writing(self._lines.output):
                _write(self._lines.path, finished, self._columns())
                finished.replace(self._lines.output)
        finally:
            with suppress(OSError):
                finished.unlink()
        with suppress(OSError):
            self._lines.path.unlink()

    def _columns(self) -> Mapping[str, Column]:
        found: dict[str, Column] = {"id": _TEXT, "status": _TEXT, "value": self._value}
        found["errors"] = _ERRORS
        if isinstance(self._keep, Struct) and self._keep.fields:
            found["keep"] = self._keep
        found["meta"] = _TEXT
        return found


def _write(source: Path, target: Path, columns: Mapping[str, Column]) -> None:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([arrow_field(name, column) for name, column in columns.items()])
    with pq.ParquetWriter(target, schema) as writer:
        for rows in _chunks(source):
            arrays = {
                name: [to_arrow(row.get(name), column) for row in rows]
                for name, column in columns.items()
            }
            writer.write_table(pa.table(arrays, schema=schema))


def _chunks(source: Path) -> Iterator[list[dict[str, Any]]]:
    with source.open("rb") as file:
        while lines := list(islice(file, _CHUNK_ROWS)):
            rows = [json.loads(line) for line in lines]
            yield [{**row, "meta": dumps_line(row["meta"])} for row in rows]
