"""Paths as people give them -> the list of files to read, each with its kind.

Takes InputConfig; gives sources in a fixed order and one warning about skipped files. What can't
be meant (a path that isn't there, a folder without documents, an option that applies to nothing)
is an `InputError` here, before any work. Opens no file but stdin.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from pipelines.config import InputConfig
from pipelines.errors import InputError

__all__ = ["Kind", "Source", "Sources", "open_sources"]

Kind = Literal["text", "jsonl", "parquet"]

_KINDS: dict[str, Kind] = {
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    ".markdown": "text",
    ".eml": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
STDIN = "stdin"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read: `name` as the user knows it (the start of ids), `path` to open."""

    name: str
    path: Path
    kind: Kind


@dataclass(frozen=True, slots=True)
class Sources:
    """All files of a run in reading order, and what the user should know about them."""

    files: tuple[Source, ...]
    warnings: tuple[str, ...]


@contextmanager
def open_sources(config: InputConfig) -> Iterator[Sources]:
    """Give the sources of `config`; stdin is copied to a file that lives as long as the block.

    A copy lets ids be checked before the first document is worked on, as for files.
    """
    with tempfile.NamedTemporaryFile(prefix="constrain-stdin-") as copy:
        skipped: Counter[str] = Counter()
        files: list[Source] = []
        for path in config.paths:
            files.extend(_expand(path, config, copy, skipped))
        _refuse_idle_options(config, files)
        yield Sources(tuple(files), tuple(_skip_warning(skipped)))


def _expand(
    path: str, config: InputConfig, copy: IO[bytes], skipped: Counter[str]
) -> Iterator[Source]:
    if path == "-":
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        has_rows = config.text_field or config.schema_column
        yield Source(STDIN, Path(copy.name), "jsonl" if has_rows else "text")
    elif Path(path).is_dir():
        yield from _folder(path, skipped)
    elif os.path.lexists(path):
        yield _file(path)
    elif glob.has_magic(path):
        yield from _pattern(path, skipped)
    else:
        raise InputError("no such file or folder", place=path, remedy="check the path")


def _folder(path: str, skipped: Counter[str]) -> list[Source]:
    found = list(_walk(path, skipped))
    if not found:
        known = ", ".join(_KINDS)
        raise InputError("the folder holds no documents", place=path, remedy=f"we read {known}")
    return found


def _pattern(pattern: str, skipped: Counter[str]) -> Iterator[Source]:
    matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  (absolute ones, too)
    if not matches:
        raise InputError("the pattern matches no file", place=pattern, remedy="check the path")
    for match in matches:
        if Path(match).is_dir():
            yield from _walk(match, skipped)
        else:
            yield _file(match)


def _walk(folder: str, skipped: Counter[str]) -> Iterator[Source]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        fact = f"the folder cannot be listed ({error.strerror})"
        raise InputError(fact, place=folder, remedy="check its permissions") from None
    for entry in entries:
        suffix = Path(entry.name).suffix.lower()
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, skipped)
        elif suffix in _KINDS:
            yield _file(entry.path)
        else:
            skipped[suffix or "no suffix"] += 1


def _file(path: str) -> Source:
    name = Path(os.path.normpath(path)).as_posix()
    return Source(name, Path(path), _KINDS.get(Path(path).suffix.lower(), "text"))


def _skip_warning(skipped: Counter[str]) -> list[str]:
    if not skipped:
        return []
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in skipped.most_common(5))
    total = skipped.total()
    return [f"{total} files in folders were skipped, no reader knows their suffix: {kinds}"]


def _refuse_idle_options(config: InputConfig, files: list[Source]) -> None:
    kinds = {file.kind for file in files}
    idle = [
        ("text_field", config.text_field, {"jsonl"}, "JSONL"),
        ("text_column", config.text_column, {"parquet"}, "Parquet"),
        ("keep", config.keep, {"jsonl", "parquet"}, "JSONL or Parquet"),
        ("schema_field", config.schema_column, {"jsonl", "parquet"}, "JSONL or Parquet"),
    ]
    for option, value, needed, name in idle:
        if value and not kinds & needed:
            raise InputError(f"applies to {name} inputs, and there are none", place=option)
