"""Guarded edges while matching: no array item and no key like an earlier one.

Takes nodes and the text that was written so far (`Written`, an opaque value); gives the same after
more bytes, and clears in a mask the tokens that would repeat a sibling, or leave no way but to
repeat one. Used only for automata that have guarded edges.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from constrain import sibling_kernels as kernels
from constrain.configurations import LazyAutomaton
from constrain.kernels import DEAD
from constrain.vocabulary import TokenTrie, Vocabulary
from constrain.written import (
    COLUMNS,
    DEPTH,
    LENGTH,
    NO_NUMBER,
    NUMBER,
    STARTS,
    Scratch,
    Written,
)

__all__ = ["NOTHING_WRITTEN", "Siblings", "Written"]

_AHEAD = 256
"""How many bytes beyond a token a computation may look."""
_GROWTH = 16
"""A number grows at most so much when it is put into canonical form."""


def _written(text: int, starts: int, depth: int) -> Written:
    at = np.zeros(COLUMNS, dtype=np.int64)
    at[NUMBER] = NO_NUMBER
    return Written(
        text=np.zeros(text, dtype=np.uint8),
        starts=np.zeros(starts, dtype=np.int64),
        opens=np.zeros((depth, 2), dtype=np.int64),
        at=at,
    )


NOTHING_WRITTEN = _written(0, 0, 0)
"""The text outside of watched containers."""


class Siblings:
    """The guard of all matchers that share a MaskCache; from one thread at a time."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._trie = vocabulary.trie
        self._token_start, self._token_bytes = _spelled(vocabulary)
        self._path = np.zeros(self._trie.max_depth + 1, dtype=np.int32)
        self._passed = np.zeros(self._trie.max_depth + 1, dtype=np.bool_)
        self._scratch = _scratch(1024, self._trie.max_depth + _AHEAD)

    def take(
        self, lazy: LazyAutomaton, node: int, written: Written, data: bytes
    ) -> tuple[int, Written]:
        """Return the node after `data`, or DEAD, and what is written then."""
        scratch = self._room(written, len(data))
        array = np.frombuffer(data, dtype=np.uint8)
        target = lazy.run(kernels.take_bytes, written, scratch, node, array)
        return target, written if target == DEAD else _copied(scratch.now)

    def live_bytes(self, lazy: LazyAutomaton, node: int, written: Written) -> NDArray[np.bool_]:
        """Return which bytes may follow, shape (256,)."""
        live = np.zeros(256, dtype=np.bool_)
        lazy.run(kernels.live_after, written, self._room(written, 1), node, live)
        return live

    def guarded(self, lazy: LazyAutomaton, node: int, trie: TokenTrie) -> NDArray[np.int32]:
        """Return the tokens of `trie` that pass a guarded edge after `node`, in order of id."""
        row = np.zeros(len(self._token_start) // 32 + 1, dtype=np.uint32)
        columns = _columns(trie)
        lazy.run(kernels.guarded_tokens, node, *columns, self._path, self._passed, row)
        return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).astype(np.int32)

    def refuse(
        self,
        lazy: LazyAutomaton,
        node: int,
        written: Written,
        guarded: NDArray[np.int32],
        row: NDArray[np.int32],
    ) -> None:
        """Clear in `row` (words,), the mask of `node`, what the written text rules out."""
        scratch = self._room(written, self._trie.max_depth)
        if written.at[DEPTH]:
            columns = _columns(self._trie)
            lazy.run(kernels.refuse_dead, written, scratch, node, *columns, row)
        allowed = guarded[row[guarded >> 5] >> (guarded & 31) & 1 == 1]
        spelled = (self._token_start, self._token_bytes)
        lazy.run(kernels.refuse_repeats, written, scratch, node, allowed, *spelled, row)

    def _room(self, written: Written, length: int) -> Scratch:
        """Return scratch arrays for `written` and `length` bytes more."""
        needed = int(written.at[LENGTH]) + _GROWTH * (length + _AHEAD)
        if len(self._scratch.now.text) < needed or len(self._scratch.path) < length + _AHEAD:
            self._scratch = _scratch(2 * needed, length + _AHEAD)
        return self._scratch


def _scratch(text: int, path: int) -> Scratch:
    return Scratch(
        now=_written(text, text + 1, text + 1),
        spare=np.zeros(2 * text, dtype=np.uint8),
        following=np.zeros(256, dtype=np.bool_),
        path=np.zeros(path, dtype=np.uint8),
        tried=np.zeros(path + 1, dtype=np.int64),
        spelled=np.zeros(path, dtype=np.uint8),
    )


def _copied(now: Written) -> Written:
    n, m, d = (int(now.at[i]) for i in (LENGTH, STARTS, DEPTH))
    if d == 0:
        return NOTHING_WRITTEN
    return Written(now.text[:n].copy(), now.starts[:m].copy(), now.opens[:d].copy(), now.at.copy())


def _columns(trie: TokenTrie) -> tuple[NDArray[np.uint8], *tuple[NDArray[np.int32], ...]]:
    return (trie.byte, trie.depth, trie.subtree_end, trie.first_token, trie.token_ids)


@lru_cache(maxsize=8)
def _spelled(vocabulary: Vocabulary) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return (where each token's bytes begin, all bytes); vocabularies are told by identity."""
    starts = np.zeros(len(vocabulary.tokens) + 1, dtype=np.int64)
    np.cumsum([len(token or b"") for token in vocabulary.tokens], out=starts[1:])
    joined = b"".join(token or b"" for token in vocabulary.tokens)
    return starts, np.frombuffer(joined, dtype=np.uint8)
