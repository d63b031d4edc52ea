"""A schema -> the few lines a model reads about it: fields in order, types, choices, meanings.

    - kind ("article", "chapter" or "book"): Article in a journal, chapter in a book, or book
    - year (whole number, 1500 to 2030): Year of publication
    - lines (list):
      - amount (number): Net amount of the line

Knows no prompt and no model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.schematree import Schema, branches, item_schema, properties, resolve

__all__ = ["outline"]

_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "array": "list",
    "object": "object",
}
_MAX_DEPTH = 5
_MAX_LISTS = 3  # lists of lists
_MAX_CHOICES = 40


def outline(schema: Schema) -> str:
    """Return one line a field, nested ones indented; one line for a schema without fields."""
    fields = list(_fields(schema, schema, 0))
    if fields:
        return "\n".join(fields)
    return f"- {_kind(schema, schema)}{_meaning(schema, schema)}"


def _fields(schema: Schema, root: Schema, depth: int, lists: int = 0) -> Iterator[str]:
    if depth == _MAX_DEPTH or lists > _MAX_LISTS:
        return
    for branch in branches(schema, root):
        inner = item_schema(branch, root)
        if inner is not None:
            yield from _fields(inner, root, depth, lists + 1)
        for name, field in properties(branch, root).items():
            yield f"{'  ' * depth}- {name} ({_kind(field, root)}){_meaning(field, root)}"
            yield from _fields(field, root, depth + 1)


def _kind(schema: Schema, root: Schema, lists: int = 0) -> str:
    words: list[str] = []
    for branch in branches(schema, root):
        words.extend(word for word in _branch_words(branch, root, lists) if word not in words)
    if "null" in words:
        words = [word for word in words if word != "null"] + ["null"]
    if not words:
        return "any value"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _branch_words(branch: Schema, root: Schema, lists: int) -> list[str]:
    if isinstance(branch, bool):
        return []
    if "const" in branch:
        return [_spell(branch["const"])]
    if isinstance(branch.get("enum"), list):
        return [_spell(value) for value in branch["enum"][:_MAX_CHOICES]]
    named = branch.get("type", "object" if "properties" in branch else [])
    listed = [named] if isinstance(named, str) else list(named)
    return [_word(str(kind), branch, root, lists) for kind in listed]


def _word(kind: str, branch: Mapping[str, Any], root: Schema, lists: int) -> str:
    if kind == "string" and isinstance(branch.get("format"), str):
        return str(branch["format"])
    if kind == "array":
        inner = item_schema(branch, root) if lists < _MAX_LISTS else None
        items = _kind(inner, root, lists + 1) if inner is not None else ""
        return "list" if items in {"", "object", "any value"} else f"list of {items}"
    word = _WORDS.get(kind, kind)
    low, high = branch.get("minimum"), branch.get("maximum")
    if kind in {"integer", "number"} and low is not None and high is not None:
        return f"{word} from {low} to {high}"
    return word


def _meaning(schema: Schema, root: Schema) -> str:
    schema = resolve(schema, root)
    if isinstance(schema, bool):
        return ""
    text = schema.get("description") or schema.get("title")
    return f": {' '.join(text.split())}" if isinstance(text, str) and text.strip() else ""


def _spell(value: Any) -> str:
    return "null" if value is None else json.dumps(value, ensure_ascii=False)
