"""Compiled constraints on disk, under the hash of everything they were made from.

One file an entry, as `packed` writes it. Files are written under a temporary name and renamed, so
any number of processes may read and write at once. A file that is damaged, foreign or out of bounds
is reported by a warning and counts as absent; its next writer replaces it.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from constrain.packed import pack, unpack
from constrain.paths import cache_dir
from constrain.tables import CompiledConstraint
from constrain.vocabulary import Vocabulary

__all__ = ["Entry", "Store", "StoreWarning", "default_store"]

_SUFFIX = ".tables"


class StoreWarning(UserWarning):
    """A stored file could not be used, or could not be written."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored file: its content key, size in bytes, and the time of its last use (seconds)."""

    key: str
    path: Path
    nbytes: int
    used: float


@dataclass(frozen=True, slots=True)
class Store:
    """The stored constraints below `folder`, which is made when the first one is saved."""

    folder: Path

    def load(self, key: str, vocabulary: Vocabulary) -> CompiledConstraint | None:
        """Return the constraint stored under `key`, or None; marks the file as used."""
        path = self._path(key)
        try:
            compiled = unpack(bytearray(path.read_bytes()), key, vocabulary)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _warn(f"at {path}: the stored constraint cannot be used ({error}); it is built again")
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return compiled

    def save(self, compiled: CompiledConstraint) -> None:
        """Store `compiled` under its key; a folder that cannot be written is only a warning."""
        path = self._path(compiled.key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(pack(compiled))
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            _warn(f"at {path}: the compiled constraint could not be stored ({error.strerror})")

    def entries(self) -> list[Entry]:
        """Return all stored files, the least recently used first."""
        return sorted(self._scan(), key=lambda entry: entry.used)

    def prune(self, max_bytes: int) -> list[Entry]:
        """Delete the least recently used files until the rest takes at most `max_bytes`."""
        entries = self.entries()
        total = sum(entry.nbytes for entry in entries)
        removed = []
        for entry in entries:
            if total <= max_bytes:
                break
            entry.path.unlink(missing_ok=True)
            total -= entry.nbytes
            removed.append(entry)
        return removed

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}{_SUFFIX}"

    def _scan(self) -> Iterator[Entry]:
        for path in self.folder.glob(f"*/*{_SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                yield Entry(path.stem, path, status.st_size, status.st_mtime)


def default_store() -> Store:
    """Return the store in this project's cache folder."""
    return Store(cache_dir() / "constraints")


def _warn(message: str) -> None:
    warnings.warn(message, StoreWarning, stacklevel=3)
