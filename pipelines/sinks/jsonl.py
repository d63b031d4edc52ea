"""JSON Lines to a file: a record a line, in input order, whole lines only."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from pipelines.records import Record, to_line
from pipelines.sinks.partial import PartialFile, settle

if TYPE_CHECKING:
    from pipelines.config import OutputConfig

__all__ = ["JsonlSink"]


class JsonlSink:
    """Writes lines to `NAME.partial`, renamed when the run is done."""

    def __init__(self, config: OutputConfig) -> None:
        self._bare = config.bare
        self._file = PartialFile(config)

    def __enter__(self) -> Self:
        return self

    def write(self, record: Record) -> None:
        """Append the record's line."""
        self._file.write(to_line(record, bare=self._bare))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        settle(self._file, error, self._file.publish)
