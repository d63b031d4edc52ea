"""A compiled constraint as one run of bytes, and back.

Magic, SHA-256 of all that follows, the length of a JSON head, the head, then each array on a
multiple of eight bytes. The arrays of what is read back are views of the one buffer: nothing is
copied and nothing parsed but the head. No pickle; what does not fit to the last byte is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.tables import Automaton, CompiledConstraint, Note
from constrain.vocabulary import Vocabulary

__all__ = ["check", "pack", "unpack"]

_MAGIC = b"constrain tables 3\n"
_HEAD = len(_MAGIC) + 32
_DTYPES = {
    "edge_start": "<i4",
    "edge_low": "|u1",
    "edge_high": "|u1",
    "edge_target": "<i4",
    "edge_guarded": "|u1",
    "epsilon_start": "<i4",
    "epsilon_target": "<i4",
    "call_start": "<i4",
    "call_entry": "<i4",
    "call_return": "<i4",
    "is_return": "|b1",
    "loops": "<i8",
    "distance": "<i8",
    "byte_class": "|u1",
    "class_byte": "<i2",
    "repeat_class": "<i2",
    "start": "<i4",
}
"""Kernels are compiled for these."""


def pack(compiled: CompiledConstraint) -> bytes:
    """Return `compiled`, without its vocabulary, as bytes."""
    arrays = {
        name: np.ascontiguousarray(array, dtype=_DTYPES[name])
        for name, array in compiled.automaton._asdict().items()
    }
    head = {
        "key": compiled.key,
        "notes": [asdict(note) for note in compiled.notes],
        "shapes": {name: array.shape for name, array in arrays.items()},
    }
    text = json.dumps(head).encode()
    body = bytearray(len(text).to_bytes(8, "little") + text)
    for array in arrays.values():
        body += b"\0" * _padding(_HEAD + len(body))
        body += array.tobytes()
    return _MAGIC + hashlib.sha256(body).digest() + body


def unpack(data: bytearray, key: str, vocabulary: Vocabulary) -> CompiledConstraint:
    """Return the constraint `key`, whose arrays are views of `data`.

    Raises ValueError, KeyError or TypeError when anything is off.
    """
    if not data.startswith(_MAGIC):
        raise ValueError("it is of another format or constraint")
    body = memoryview(data)[_HEAD:]
    if hashlib.sha256(body).digest() != data[len(_MAGIC) : _HEAD]:
        raise ValueError("its contents do not match their digest")
    size = int.from_bytes(body[:8], "little")
    head = json.loads(bytes(body[8 : 8 + size]))
    if head["key"] != key:
        raise ValueError("it is of another format or constraint")
    automaton = Automaton(**dict(_arrays(data, _HEAD + 8 + size, head["shapes"])))
    check(automaton)
    return CompiledConstraint(
        automaton, vocabulary, key, tuple(Note(**note) for note in head["notes"])
    )


def _arrays(
    data: bytearray, at: int, shapes: dict[str, list[int]]
) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, dtype in _DTYPES.items():
        at += _padding(at)
        count = int(np.prod(shapes[name]))
        array = np.frombuffer(data, dtype=dtype, count=count, offset=at)
        yield name, array.reshape(shapes[name])
        at += array.nbytes
    if at != len(data):
        raise ValueError("it is longer than its arrays")


def _padding(at: int) -> int:
    return -at % 8


def check(a: Automaton) -> None:
    """Raise ValueError unless every index stays inside its array: kernels do not look."""
    states = len(a.is_return)
    for start, columns in (
        (a.edge_start, (a.edge_low, a.edge_high, a.edge_target, a.edge_guarded)),
        (a.epsilon_start, (a.epsilon_target,)),
        (a.call_start, (a.call_entry, a.call_return)),
    ):
        if len(start) != states + 1 or start[0] != 0 or np.any(np.diff(start) < 0):
            raise ValueError("its rows are out of order")
        if any(len(column) != start[-1] for column in columns):
            raise ValueError("its rows are out of bounds")
    for targets in (a.edge_target, a.epsilon_target, a.call_entry, a.call_return, a.start):
        if len(targets) and not 0 <= targets.min() <= targets.max() < states:
            raise ValueError("its states are out of bounds")
    if a.loops.shape != (states, 7) or len(a.distance) != states:
        raise ValueError("its states are incomplete")
    classes = len(a.class_byte)
    if len(a.byte_class) != 256 or len(a.start) != 1 or a.byte_class.max() >= classes:
        raise ValueError("its byte classes are out of bounds")
    repeats = a.repeat_class
    if len(repeats) != 256 or not 0 <= repeats.min() <= repeats.max() < classes:
        raise ValueError("its byte classes are out of bounds")
