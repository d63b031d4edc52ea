"""What JSONL rows and Parquet rows share: the rules for ids and for the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.documents import Origin
from pipelines.errors import DocumentError

__all__ = ["json_type", "row_id", "text_of"]


def row_id(value: Any, origin: Origin) -> str:
    """Return the id of a row: a text, or a whole number as text (so 1 and "1" are one id).

    Without an id (missing, null, empty) it is `origin.id`, made of file and line, which stays the
    same from run to run. Raises `DocumentError` for anything else.
    """
    if value is None or value == "":
        return origin.id
    if isinstance(value, bool) or not isinstance(value, str | int):
        fact = f"the id is {json_type(value)}, not a text or a whole number"
        raise DocumentError(fact, stage="read", place=origin.place)
    return str(value)


def text_of(row: Mapping[str, Any], field: str, origin: Origin) -> str:
    """Return the text of a row; raise `DocumentError` where it has none."""
    if field not in row:
        names = ", ".join(map(repr, list(row)[:12])) or "no field at all"
        fact = f"the row has no field {field!r}; it has {names}"
        raise DocumentError(fact, stage="read", place=origin.place)
    text = row[field]
    if not isinstance(text, str):
        fact = f"the field {field!r} holds {json_type(text)}, not text"
        raise DocumentError(fact, stage="read", place=origin.place)
    return text


def json_type(value: Any) -> str:
    """Name the JSON type of a value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "an array" if isinstance(value, list) else "an object"
