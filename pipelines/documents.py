"""Document: one text to work on, and Unread: one that could not be read. Every row is either.

Takes raw text and where it came from; gives text that is safe to tokenize and to write: no NUL, no
lone surrogate, not blank. Knows no file format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pipelines.errors import DocumentError

__all__ = ["Document", "Origin", "Unread", "document_from_text"]

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document stands. `id` names it in the output, `place` tells a person the spot."""

    id: str
    place: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text that can be worked on.

    `keep` holds the columns to carry into the record, as JSON values. `meta` goes into the
    record's meta: `encoding` when it was not UTF-8, `warnings` about changes made while reading.
    `schema` is what its row has for a schema of its own, unread; None where it has nothing.
    """

    origin: Origin
    text: str
    keep: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    schema: Any = None

    @property
    def id(self) -> str:
        """Return the id."""
        return self.origin.id

    def without_text(self) -> Document:
        """Return the document for those who only make its record: smaller while it waits."""
        return replace(self, text="", schema=None)


@dataclass(frozen=True, slots=True)
class Unread:
    """A document that could not be read; it becomes an `error` record."""

    origin: Origin
    error: DocumentError
    keep: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the id."""
        return self.origin.id


def document_from_text(
    origin: Origin,
    text: str,
    *,
    keep: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
    schema: Any = None,
) -> Document | Unread:
    """Return the document, or `Unread` when the text is blank.

    Each NUL becomes one space (so offsets stay right) and each lone surrogate U+FFFD; both are
    told in `meta["warnings"]`.
    """
    kept = keep or {}
    warnings = list((meta or {}).get("warnings", ()))
    if "\0" in text:
        warnings.append(f"{text.count(chr(0))} NUL characters were read as spaces")
        text = text.replace("\0", " ")
    text, lone = _SURROGATE.subn("\ufffd", text)
    if lone:
        warnings.append(f"{lone} lone surrogates were read as U+FFFD")
    if not text.strip():
        fact = "the document is empty" if not text else "the document holds only white space"
        return Unread(origin, DocumentError(fact, stage="read", place=origin.place), kept)
    found = {**(meta or {}), "warnings": warnings} if warnings else dict(meta or {})
    return Document(origin, text, kept, found, schema)
