"""JSON Lines: one object a line is one document; a bad line is one error, and reading goes on.

Lines end at line feeds only. Blank lines are skipped but counted. UTF-8 (a byte order mark is
fine), UTF-16 and UTF-32 by mark, or the encoding that is given.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import IO, Any

from pipelines.config import InputConfig
from pipelines.documents import Document, Origin, Unread, document_from_text
from pipelines.encodings import bom_encoding
from pipelines.errors import DocumentError, InputError
from pipelines.jsontext import JsonError, loads_strict
from pipelines.readers.rows import row_id, text_of
from pipelines.sources import Source

__all__ = ["origins", "read"]


def origins(source: Source, config: InputConfig) -> Iterator[Origin]:
    """Yield the origin of each row; raise `InputError` when no row has the text field."""
    field = config.text_field or "text"
    first: Mapping[str, Any] | None = None
    found = False
    for origin, row in _rows(source, config):
        if not isinstance(row, DocumentError):
            found = found or field in row
            first = row if first is None else first
        yield origin
    if first is not None and not found:
        fields = ", ".join(map(repr, list(first)[:12]))
        raise InputError(
            f"no row has the field {field!r}; the first has {fields}",
            place=source.name,
            remedy="name the field with the text: --text-field",
        )


def read(source: Source, config: InputConfig) -> Iterator[Document | Unread]:
    """Yield the document of each row that is not blank."""
    field = config.text_field or "text"
    for origin, row in _rows(source, config):
        if isinstance(row, DocumentError):
            yield Unread(origin, row)
            continue
        keep = {name: row.get(name) for name in config.keep}
        try:
            row_id(row.get(config.id_field), origin)
            text = text_of(row, field, origin)
        except DocumentError as error:
            yield Unread(origin, error, keep)
            continue
        schema = row.get(config.schema_column) if config.schema_column else None
        yield document_from_text(origin, text, keep=keep, schema=schema)


def _rows(
    source: Source, config: InputConfig
) -> Iterator[tuple[Origin, Mapping[str, Any] | DocumentError]]:
    for number, line in _lines(source, config):
        origin = Origin(f"{source.name}:{number}", f"{source.name}, line {number}")
        if isinstance(line, DocumentError):
            yield origin, line.at(origin.place)
            continue
        if not line.strip():
            continue
        try:
            row = _object_of(line, origin)
        except DocumentError as error:
            yield origin, error
            continue
        yield _named(origin, row, config.id_field), row


def _named(origin: Origin, row: Mapping[str, Any], id_field: str) -> Origin:
    try:
        return Origin(row_id(row.get(id_field), origin), origin.place)
    except DocumentError:
        return origin  # `read` tells what is wrong with the id


def _object_of(line: str, origin: Origin) -> Mapping[str, Any]:
    try:
        row = loads_strict(line)
    except JsonError as error:
        where = f", column {error.column}" if error.column else ""
        fact = f"not JSON: {error.fact}"
        raise DocumentError(fact, stage="read", place=origin.place + where) from None
    if not isinstance(row, dict):
        raise DocumentError("the line holds no JSON object", stage="read", place=origin.place)
    return row


def _lines(source: Source, config: InputConfig) -> Iterator[tuple[int, str | DocumentError]]:
    """Yield (line number from 1, line or why it can't be read); stops where reading must."""
    number = 0
    try:
        with source.path.open("rb") as file:
            encoding = config.encoding or bom_encoding(file.peek(4)[:4]) or "utf-8"
            wide = encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32"))
            lines = _wide_lines(file, encoding) if wide else _byte_lines(file, config, encoding)
            for number, line in enumerate(lines, start=1):
                yield number, line
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        fact = f"the rest of the file cannot be read ({reason})"
        yield number + 1, DocumentError(fact, stage="read", place=source.name)


def _wide_lines(file: IO[bytes], encoding: str) -> Iterator[str]:
    yield from io.TextIOWrapper(file, encoding, newline="\n")


def _byte_lines(
    file: IO[bytes], config: InputConfig, encoding: str
) -> Iterator[str | DocumentError]:
    first = True
    while line := file.readline(config.max_bytes + 1):
        if len(line) > config.max_bytes:
            while line and not line.endswith(b"\n"):
                line = file.readline(2**20)
            fact = f"the line holds more than {config.max_bytes:,} bytes"
            yield DocumentError(fact, stage="read", remedy="split it")
        else:
            yield _decode_line(line, "utf-8-sig" if first and encoding == "utf-8" else encoding)
        first = False


def _decode_line(line: bytes, encoding: str) -> str | DocumentError:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError as error:
        fact = f"byte {error.start} of the line (0x{line[error.start]:02x}) is not {error.encoding}"
        return DocumentError(fact, stage="read", remedy="name the encoding with --encoding")
