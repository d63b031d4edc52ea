"""Record: what becomes of one document; every document has exactly one.

Knows how a record looks as JSON, and how to read it back. Knows no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pipelines.documents import Document, Unread
from pipelines.errors import DocumentError
from pipelines.jsontext import dumps_line

__all__ = ["Record", "RecordError", "Status", "error_record", "to_json", "to_line"]

Status = Literal["ok", "invalid", "error"]


@dataclass(frozen=True, slots=True)
class RecordError:
    """One reason why a record isn't ok. `pointer` and `keyword` only where a value is invalid."""

    stage: str
    reason: str
    pointer: str | None = None
    keyword: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the output. `value` is None when `status` is "error"."""

    id: str
    status: Status
    value: Any = None
    errors: tuple[RecordError, ...] = ()
    keep: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)


def error_record(
    document: Document | Unread, error: DocumentError, meta: Mapping[str, Any] | None = None
) -> Record:
    """Return the record of a document that failed."""
    reason = RecordError(error.stage, str(error))
    return Record(document.id, "error", None, (reason,), document.keep, meta or {})


def to_json(record: Record) -> dict[str, Any]:
    """Return the record as JSON values: id, status, value, then errors and keep if any, meta."""
    found: dict[str, Any] = {"id": record.id, "status": record.status, "value": record.value}
    if record.errors:
        found["errors"] = [_error_json(error) for error in record.errors]
    if record.keep:
        found["keep"] = dict(record.keep)
    found["meta"] = dict(record.meta)
    return found


def to_line(record: Record, *, bare: bool = False) -> bytes:
    """Return the record, or its bare value, as one line of UTF-8 JSON with its line feed."""
    return dumps_line(record.value if bare else to_json(record)).encode("utf-8") + b"\n"


def _error_json(error: RecordError) -> dict[str, str]:
    found = {"stage": error.stage, "reason": error.reason}
    if error.pointer is not None:
        found["pointer"] = error.pointer
    if error.keyword is not None:
        found["keyword"] = error.keyword
    return found
