"""One text file is one document; its id is its path."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.config import InputConfig
from pipelines.documents import Document, Origin, Unread, document_from_text
from pipelines.encodings import decode_text
from pipelines.errors import DocumentError
from pipelines.sources import Source

__all__ = ["origins", "read"]


def origins(source: Source, _config: InputConfig) -> Iterator[Origin]:
    """Yield the one origin, without opening the file."""
    yield Origin(source.name, source.name)


def read(source: Source, config: InputConfig) -> Iterator[Document | Unread]:
    """Yield the one document."""
    origin = Origin(source.name, source.name)
    try:
        data = _bytes_of(source, config.max_bytes)
        decoded = decode_text(data, source.name, config.encoding)
    except DocumentError as error:
        yield Unread(origin, error)
        return
    meta: dict[str, object] = {}
    if decoded.encoding not in {"utf-8", "utf-8-sig"}:
        meta["encoding"] = decoded.encoding
    if decoded.warning:
        meta["warnings"] = [decoded.warning]
    yield document_from_text(origin, decoded.text, meta=meta)


def _bytes_of(source: Source, max_bytes: int) -> bytes:
    try:
        with source.path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        fact = f"the file cannot be read ({error.strerror})"
        raise DocumentError(fact, stage="read", place=source.name) from None
    if len(data) > max_bytes:
        fact = f"the file holds more than {max_bytes:,} bytes"
        raise DocumentError(fact, stage="read", place=source.name, remedy="split it")
    return data
