"""JSON Lines to stdout: every line flushed, and a reader that leaves ends the run quietly."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import Self

from pipelines.errors import OutputError, ReaderGoneError
from pipelines.records import Record, to_line

__all__ = ["StdoutSink"]


class StdoutSink:
    """Writes lines to the bytes under sys.stdout, UTF-8 whatever the locale says."""

    def __init__(self, *, bare: bool) -> None:
        self._bare = bare
        self._stream = sys.stdout.buffer

    def __enter__(self) -> Self:
        return self

    def write(self, record: Record) -> None:
        """Write and flush the record's line; raise `ReaderGoneError` when nobody reads."""
        try:
            self._stream.write(to_line(record, bare=self._bare))
            self._stream.flush()
        except BrokenPipeError:
            _silence()
            raise ReaderGoneError from None
        except OSError as error:
            _silence()
            fact = f"cannot be written ({error.strerror})"
            raise OutputError(fact, place="stdout", remedy="make room, then run again") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Nothing is left to do: every line is out."""


def _silence() -> None:
    """Point stdout at nothing, so that the interpreter's last flush meets no broken pipe."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
