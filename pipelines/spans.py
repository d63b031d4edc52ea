"""JSON text -> where each value stands in it, as byte offsets.

For text that is known to be valid JSON (the engine made it, json.loads has read it); so this only
looks for the ends of things. Offsets are in UTF-8 bytes, which is what tokens are made of.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

__all__ = ["Path", "Span", "value_spans"]

Path = tuple[str | int, ...]

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ATOM = re.compile(rb"[^\s,\]}]+")
_BLANK = re.compile(rb"[\s]*")


@dataclass(frozen=True, slots=True)
class Span:
    """The value at `path` (keys and indices from the root) is `data[start:end]`."""

    path: Path
    start: int
    end: int


def value_spans(data: bytes) -> list[Span]:
    """Return the span of every value, outer before inner, in order of their start."""
    found: list[Span] = []
    _value(data, _skip(data, 0), (), found)
    return found


def _value(data: bytes, start: int, path: Path, found: list[Span]) -> int:
    """Record the value that starts at `start` and what it holds; return where it ends."""
    slot = len(found)
    found.append(Span(path, start, start))
    opening = data[start : start + 1]
    if opening in {b"{", b"["}:
        end = _members(data, start, path, found)
    else:
        end = _scalar_end(data, start)
    found[slot] = Span(path, start, end)
    return end


def _members(data: bytes, start: int, path: Path, found: list[Span]) -> int:
    is_object = data[start : start + 1] == b"{"
    position = _skip(data, start + 1)
    index = 0
    while data[position : position + 1] not in {b"}", b"]"}:
        name: str | int = index
        if is_object:
            key_end = _scalar_end(data, position)
            name = json.loads(data[position:key_end])
            position = _skip(data, _skip(data, key_end) + 1)  # over the colon
        position = _skip(data, _value(data, position, (*path, name), found))
        if data[position : position + 1] == b",":
            position = _skip(data, position + 1)
        index += 1
    return position + 1


def _scalar_end(data: bytes, start: int) -> int:
    pattern = _STRING if data[start : start + 1] == b'"' else _ATOM
    match = pattern.match(data, start)
    if match is None:
        raise ValueError(f"no JSON value at byte {start}")
    return match.end()


def _skip(data: bytes, position: int) -> int:
    match = _BLANK.match(data, position)
    return match.end() if match else position
