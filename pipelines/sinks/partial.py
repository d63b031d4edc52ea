"""A file of lines that gets its name only when it is whole.

Lines go to `NAME.partial`. `publish` renames it; `keep` leaves it there with its whole lines, cut
after the last one, or removes it when there is none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pipelines.errors import ConfigError, OutputError, OutputExistsError

if TYPE_CHECKING:
    from pipelines.config import OutputConfig

__all__ = ["PartialFile", "check_output", "partial_path", "settle", "writing"]


def partial_path(output: Path) -> Path:
    """Return where the lines of an unfinished output lie."""
    return output.with_name(output.name + ".partial")


def check_output(config: OutputConfig) -> None:
    """Raise `OutputExistsError` or `ConfigError` when the output can't be begun."""
    output = Path(config.path)
    if output.is_dir():
        raise ConfigError("is a folder", place=config.path, remedy="name a file in it")
    if not output.parent.is_dir():
        raise ConfigError(
            f"there is no folder {output.parent}", place=config.path, remedy="make it"
        )
    if config.overwrite:
        return
    if os.path.lexists(output):
        remedy = "choose another name, or give --overwrite"
        raise OutputExistsError("the output exists already", place=config.path, remedy=remedy)
    partial = partial_path(output)
    if os.path.lexists(partial):
        fact = "an earlier run that did not finish left its records there"
        remedy = "move it away, or give --overwrite to begin anew"
        raise OutputExistsError(fact, place=str(partial), remedy=remedy)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError in the block into an `OutputError` about `path`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = "make room or choose another place, then run again"
        raise OutputError(
            f"cannot be written ({reason})", place=str(path), remedy=remedy
        ) from error


class PartialFile:
    """The lines of one output, under its partial name."""

    def __init__(self, config: OutputConfig) -> None:
        check_output(config)
        self.output = Path(config.path)
        self.path = partial_path(self.output)
        self.lines = 0
        self._whole_bytes = 0
        with writing(self.path):
            self._file: IO[bytes] = self.path.open("wb")

    def write(self, line: bytes) -> None:
        """Append one line and hand it to the system; raise `OutputError` when that fails."""
        with writing(self.output):
            self._file.write(line)
            self._file.flush()
        self.lines += 1
        self._whole_bytes += len(line)

    def finish(self) -> None:
        """Bring all lines to the disk and close the file."""
        with writing(self.output):
            os.fsync(self._file.fileno())
            self._file.close()

    def publish(self) -> None:
        """Finish, and give the file its name."""
        self.finish()
        with writing(self.output):
            self.path.replace(self.output)

    def keep(self) -> str:
        """Close the file after its last whole line; return what to tell the user, or ""."""
        with suppress(OSError):
            self._file.close()
        if not self.lines:
            with suppress(OSError):
                self.path.unlink()
            return ""
        with suppress(OSError):
            os.truncate(self.path, self._whole_bytes)
        return f"the {self.lines} records written so far are in {self.path}"


def settle(file: PartialFile, error: BaseException | None, publish: Callable[[], None]) -> None:
    """End an output: `publish` it, or keep its lines when the run, or publishing, has failed.

    Where they are kept is noted on the error.
    """
    try:
        if error is None:
            publish()
    except BaseException as failure:
        error = failure
        raise
    finally:
        if error is not None and (kept := file.keep()):
            error.add_note(kept)
