"""The fields of a JSON value under dotted names: `total`, `seller.city`, `lines[].amount`.

A key that would be misread (empty, or with a dot, a bracket or a quote) is written as JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["WHOLE", "field_name", "walk_fields"]

WHOLE = "."


def field_name(path: tuple[str | int, ...]) -> str:
    """Return the dotted name of a path; every index becomes `[]`, the root is `.`."""
    name = ""
    for part in path:
        if isinstance(part, int):
            name += "[]"
        else:
            name = _below(name, part)
    return name or WHOLE


def walk_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value) of every field; of a value that is no object, itself first."""
    if not isinstance(value, dict):
        yield WHOLE, value
    yield from _inside(value, "")


def _inside(value: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            name = _below(prefix, key)
            yield name, item
            yield from _inside(item, name)
    elif isinstance(value, list):
        for item in value:
            yield f"{prefix}[]", item
            yield from _inside(item, f"{prefix}[]")


def _below(prefix: str, key: str) -> str:
    shown = key if key and not set(key) & set('."[]') else json.dumps(key)
    return f"{prefix}.{shown}" if prefix else shown
