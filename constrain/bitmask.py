"""The packed token mask: one bit a token id, 32 to an int32 word, low bit first.

The layout is the one that samplers and other engines share: bit `t & 31` of word `t >> 5` is set
if and only if token `t` is allowed. Arrays are (batch, words) of int32.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["allocate", "allowed_ids", "count", "is_allowed", "words"]


def words(vocabulary_size: int) -> int:
    """Return the number of int32 words that hold `vocabulary_size` bits."""
    return (vocabulary_size + 31) // 32


def allocate(batch: int, vocabulary_size: int) -> NDArray[np.int32]:
    """Return an all-zero mask of shape (batch, words): nothing is allowed."""
    return np.zeros((batch, words(vocabulary_size)), dtype=np.int32)


def is_allowed(row: NDArray[np.int32], token_id: int) -> bool:
    """Return whether `token_id` is allowed in one mask row of shape (words,)."""
    return bool((int(row[token_id >> 5]) >> (token_id & 31)) & 1)


def allowed_ids(row: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the allowed token ids of one mask row, ascending."""
    bits = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")
    return np.flatnonzero(bits)


def count(row: NDArray[np.int32]) -> int:
    """Return how many tokens one mask row allows."""
    return int(np.bitwise_count(np.ascontiguousarray(row).view(np.uint32)).sum())
