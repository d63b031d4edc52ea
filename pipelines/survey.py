"""A first pass over the inputs: how many documents there are, and that no id comes twice.

Reads ids alone and keeps 8 bytes for each, so its memory is small however many there are.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator

from pipelines.documents import Origin
from pipelines.errors import InputError

__all__ = ["survey"]


def survey(origins: Callable[[], Iterator[Origin]]) -> int:
    """Return the number of documents; raise `InputError` naming the first id that comes twice.

    `origins` starts a fresh pass at each call. Ids are compared as text.
    """
    hashes = array("Q", (_hash(origin.id) for origin in origins()))
    repeated = _repeated(hashes)
    if repeated:
        _refuse_doubles(origins(), repeated)
    return len(hashes)


def _hash(identifier: str) -> int:
    data = identifier.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def _repeated(hashes: array[int]) -> set[int]:
    import numpy as np  # noqa: PLC0415

    values, counts = np.unique(np.asarray(hashes, dtype=np.uint64), return_counts=True)
    return {int(value) for value in values[counts > 1]}


def _refuse_doubles(origins: Iterator[Origin], suspects: set[int]) -> None:
    seen: dict[str, str] = {}
    for origin in origins:
        if _hash(origin.id) not in suspects:
            continue
        if origin.id in seen:
            raise InputError(
                f"the id {origin.id!r} comes twice: {seen[origin.id]} and {origin.place}",
                remedy='make ids unique (1 and "1" are one id), or choose another --id-field',
            )
        seen[origin.id] = origin.place
