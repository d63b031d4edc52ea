"""One reader a file format; each gives `origins` (ids alone, cheaply) and `read` (documents).

A reader is a module, so a format costs one file and one line in `_READERS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from pipelines.config import InputConfig
from pipelines.documents import Document, Origin, Unread
from pipelines.readers import jsonl, parquet, text
from pipelines.sources import Kind, Source

__all__ = ["Reader", "read_documents", "read_origins"]


class Reader(Protocol):
    """What a reader module offers."""

    def origins(self, source: Source, config: InputConfig, /) -> Iterator[Origin]:
        """Yield the origin of every document, in order; raise `InputError` for usage errors."""

    def read(self, source: Source, config: InputConfig, /) -> Iterator[Document | Unread]:
        """Yield one item for each origin, in the same order."""


_READERS: dict[Kind, Reader] = {"text": text, "jsonl": jsonl, "parquet": parquet}


def read_origins(sources: Iterable[Source], config: InputConfig) -> Iterator[Origin]:
    """Yield the origins of all documents of all sources."""
    for source in sources:
        yield from _READERS[source.kind].origins(source, config)


def read_documents(sources: Iterable[Source], config: InputConfig) -> Iterator[Document | Unread]:
    """Yield all documents of all sources, lazily: one batch of rows is in memory at a time."""
    for source in sources:
        yield from _READERS[source.kind].read(source, config)
