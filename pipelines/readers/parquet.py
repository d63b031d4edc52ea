"""Parquet: each row is a document; rows are streamed, columns that aren't needed stay unread.

A file that is damaged gives one error for what can't be read of it. A row group that claims to
unfold to more than `_MAX_GROUP_BYTES` is refused unread: 4 kB can hold 2 GiB.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from pipelines.config import InputConfig
from pipelines.documents import Document, Origin, Unread, document_from_text
from pipelines.errors import DocumentError, InputError
from pipelines.jsontext import jsonable
from pipelines.readers.rows import row_id, text_of
from pipelines.sources import Source

__all__ = ["origins", "read"]

_BATCH_ROWS = 64
_MAX_GROUP_BYTES = 2**30


def origins(source: Source, config: InputConfig) -> Iterator[Origin]:
    """Yield the origin of each row; raise `InputError` for columns that aren't there."""
    try:
        with closing(_open(source)) as file:
            _check_columns(file, source, config)
    except DocumentError:
        yield _row_origin(source, 1)
        return
    for number, row in _rows(source, config, ids_only=True):
        origin = _row_origin(source, number)
        yield origin if isinstance(row, DocumentError) else _named(origin, row, config)


def read(source: Source, config: InputConfig) -> Iterator[Document | Unread]:
    """Yield the document of each row."""
    column = config.text_column or "text"
    for number, row in _rows(source, config, ids_only=False):
        origin = _row_origin(source, number)
        if isinstance(row, DocumentError):
            yield Unread(origin, row)
            continue
        keep = {name: row[name] for name in config.keep}
        try:
            origin = Origin(row_id(row.get(config.id_field), origin), origin.place)
            text = text_of(row, column, origin)
        except DocumentError as error:
            yield Unread(origin, error, keep)
            continue
        schema = row.get(config.schema_column) if config.schema_column else None
        yield document_from_text(origin, text, keep=keep, schema=schema)


def _row_origin(source: Source, number: int) -> Origin:
    return Origin(f"{source.name}:{number}", f"{source.name}, row {number}")


def _named(origin: Origin, row: dict[str, Any], config: InputConfig) -> Origin:
    try:
        return Origin(row_id(row.get(config.id_field), origin), origin.place)
    except DocumentError:
        return origin  # `read` tells what is wrong with the id


def _open(source: Source) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return pq.ParquetFile(source.path)
    except Exception as error:  # noqa: BLE001  (damaged files raise errors of many classes)
        raise _damaged(source, error) from None


def _damaged(source: Source, error: Exception) -> DocumentError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return DocumentError(
        f"the Parquet file cannot be read ({reason})", stage="read", place=source.name
    )


def _check_columns(file: Any, source: Source, config: InputConfig) -> None:
    schema = file.schema_arrow
    text = config.text_column or "text"
    for name, option in [(text, "--text-column"), *((name, "--keep") for name in config.keep)]:
        if name not in schema.names:
            have = ", ".join(map(repr, schema.names[:12]))
            fact = f"there is no column {name!r}; the file has {have}"
            raise InputError(fact, place=source.name, remedy=f"choose one with {option}")
    if not _is_text(schema.field(text).type):
        fact = f"the column {text!r} holds {schema.field(text).type}, not text"
        raise InputError(fact, place=source.name, remedy="choose another with --text-column")
    own = config.schema_column
    if own in schema.names and not _is_text(schema.field(own).type):
        # Arrow fills up structs: a keyword of one schema would be null in all others.
        fact = f"the column {own!r} holds {schema.field(own).type}, not schemas as JSON text"
        raise InputError(fact, place=source.name, remedy="write them as text")


def _is_text(kind: Any) -> bool:
    import pyarrow.types as pt  # noqa: PLC0415

    if pt.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def _rows(
    source: Source, config: InputConfig, *, ids_only: bool
) -> Iterator[tuple[int, dict[str, Any] | DocumentError]]:
    """Yield (row number from 1, its needed columns as JSON values, or what stopped the reading)."""
    number = 0
    try:
        with closing(_open(source)) as file:
            columns = _needed(file.schema_arrow.names, config, ids_only=ids_only)
            for group in range(file.metadata.num_row_groups):
                _refuse_bomb(file.metadata.row_group(group), columns, source)
                for row in _group_rows(file, group, columns):
                    number += 1
                    yield number, row
    except GeneratorExit:
        raise
    except DocumentError as error:
        yield number + 1, error
    except Exception as error:  # noqa: BLE001  (pyarrow raises many classes on damaged pages)
        yield number + 1, _damaged(source, error)


def _needed(names: list[str], config: InputConfig, *, ids_only: bool) -> list[str]:
    wanted: set[str | None] = {config.id_field}
    if not ids_only:
        wanted |= {config.text_column or "text", *config.keep, config.schema_column}
    return [name for name in names if name in wanted]


def _group_rows(file: Any, group: int, columns: list[str]) -> Iterator[dict[str, Any]]:
    if not columns:
        yield from ({} for _ in range(file.metadata.row_group(group).num_rows))
        return
    for batch in file.iter_batches(_BATCH_ROWS, row_groups=[group], columns=columns):
        values = [_values(batch.column(name)) for name in columns]
        for row in zip(*values, strict=True):
            yield dict(zip(columns, row, strict=True))


def _values(column: Any) -> list[Any]:
    try:
        return [jsonable(value) for value in column.to_pylist()]
    except (ValueError, OverflowError):  # a timestamp that no Python datetime can hold
        import pyarrow as pa  # noqa: PLC0415

        texts: list[Any] = column.cast(pa.string()).to_pylist()
        return texts


def _refuse_bomb(group: Any, columns: list[str], source: Source) -> None:
    parts = [group.column(i) for i in range(group.num_columns)]
    size = sum(
        p.total_uncompressed_size for p in parts if p.path_in_schema.split(".")[0] in columns
    )
    if size > _MAX_GROUP_BYTES:
        fact = f"a row group unfolds to {size:,} bytes; at most {_MAX_GROUP_BYTES:,} are read"
        raise DocumentError(fact, stage="read", place=source.name, remedy="write smaller groups")
