"""Compiled constraints on disk, under the hash of everything they were made from.

One file an entry: the automaton's arrays and a JSON head with a digest, as an uncompressed .npz
that is read without pickle. Files are written under a temporary name and renamed, so any number of
processes may read and write at once. A file that is damaged, foreign or out of bounds is reported
by a warning and counts as absent; its next writer replaces it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.paths import cache_dir
from constrain.tables import Automaton, CompiledConstraint, Note
from constrain.vocabulary import Vocabulary

__all__ = ["Entry", "Store", "StoreWarning", "default_store"]

_FORMAT = 2
_SUFFIX = ".npz"
_UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    NotImplementedError,
    struct.error,
    zipfile.BadZipFile,
)
"""What reading a damaged archive raises, depending on where the damage is."""


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
            with np.load(path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            compiled = _decode(arrays, key, vocabulary)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except _UNREADABLE as error:
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
                    np.savez(file, allow_pickle=False, **_encode(compiled))
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


def _encode(compiled: CompiledConstraint) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = dict(compiled.automaton._asdict())
    head = {
        "format": _FORMAT,
        "key": compiled.key,
        "digest": _digest(arrays),
        "notes": [asdict(note) for note in compiled.notes],
    }
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    return arrays


def _decode(
    arrays: dict[str, NDArray[Any]], key: str, vocabulary: Vocabulary
) -> CompiledConstraint:
    """Return the constraint; raises ValueError, KeyError or TypeError when anything is off."""
    head = json.loads(arrays.pop("head").tobytes())
    if head["format"] != _FORMAT or head["key"] != key:
        raise ValueError("it is of another format or constraint")
    if head["digest"] != _digest(arrays):
        raise ValueError("its contents do not match their digest")
    automaton = Automaton(**arrays)
    _check(automaton)
    return CompiledConstraint(
        automaton, vocabulary, key, tuple(Note(**note) for note in head["notes"])
    )


def _digest(arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _check(a: Automaton) -> None:
    """Raise ValueError unless every index stays inside its array: kernels do not look."""
    states = len(a.is_return)
    for start, columns in (
        (a.edge_start, (a.edge_low, a.edge_high, a.edge_target, a.edge_guarded)),
        (a.epsilon_start, (a.epsilon_target,)),
        (a.call_start, (a.call_entry, a.call_return)),
    ):
        if len(start) != states + 1 or start[0] != 0 or np.any(np.diff(start) < 0):
            raise ValueError("its rows are out of order")
        if any(len(column) != start[-1] for column in columns):
            raise ValueError("its rows are out of bounds")
    for targets in (a.edge_target, a.epsilon_target, a.call_entry, a.call_return, a.start):
        if len(targets) and not 0 <= targets.min() <= targets.max() < states:
            raise ValueError("its states are out of bounds")
    if a.loops.shape != (states, 7) or len(a.distance) != states:
        raise ValueError("its states are incomplete")
    classes = len(a.class_byte)
    if len(a.byte_class) != 256 or len(a.start) != 1 or a.byte_class.max() >= classes:
        raise ValueError("its byte classes are out of bounds")
    repeats = a.repeat_class
    if len(repeats) != 256 or not 0 <= repeats.min() <= repeats.max() < classes:
        raise ValueError("its byte classes are out of bounds")


def _warn(message: str) -> None:
    warnings.warn(message, StoreWarning, stacklevel=3)
