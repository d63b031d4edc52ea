"""Where records go: one module a format. A sink is a context manager with `write`.

Leaving the block publishes the output under its name; leaving it by an error keeps what was
written whole under `NAME.partial`, and says so. A file appears under its name whole or not at all.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from pipelines.columns import Column
from pipelines.records import Record
from pipelines.sinks.jsonl import JsonlSink
from pipelines.sinks.parquet import ParquetSink
from pipelines.sinks.stdout import StdoutSink

if TYPE_CHECKING:
    from pipelines.config import OutputConfig

__all__ = ["Sink", "open_sink"]


class Sink(Protocol):
    """Takes records in output order."""

    def write(self, record: Record, /) -> None:
        """Write one record whole; raise `OutputError` or `ReaderGoneError`."""


def open_sink(config: OutputConfig, value: Column) -> AbstractContextManager[Sink]:
    """Return the sink `config` asks for; `value` types the value column of Parquet.

    Entering it raises `OutputExistsError` when the output is there and may not be replaced.
    """
    if config.path == "-":
        return StdoutSink(bare=config.bare)
    if config.format == "parquet":
        return ParquetSink(config, value)
    return JsonlSink(config)
