"""Guarded edges while matching: no array item and no key like an earlier one.

Takes nodes and the text that was written so far (`Written`, an opaque value); gives the same after
more bytes, and clears in a mask the tokens that would repeat a sibling, or leave no way but to
repeat one. Used only for automata that have guarded edges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constrain import sibling_kernels as kernels
from constrain.configurations import LazyAutomaton
from constrain.kernels import DEAD
from constrain.tables import SCARCE, Automaton
from constrain.vocabulary import TokenTrie, Vocabulary
from constrain.written import (
    BETWEEN,
    COLUMNS,
    DEPTH,
    KEY,
    LENGTH,
    MODE,
    NO_NUMBER,
    NUMBER,
    STARTS,
    STRING,
    Scratch,
    Written,
)

__all__ = ["NOTHING_WRITTEN", "NO_TOKENS", "Guarded", "Siblings", "Written"]

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


class Guarded(NamedTuple):
    """The tokens that pass guarded edges after a node, ids ascending.

    `more`: those that end an item or key they have begun themselves, after another.
    """

    some: NDArray[np.int32]
    more: NDArray[np.int32]


NO_TOKENS = Guarded(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))


class Siblings:
    """The guard of all matchers that share a MaskCache; from one thread at a time."""

    def __init__(self, automaton: Automaton, vocabulary: Vocabulary) -> None:
        self._trie = vocabulary.trie
        self._token_start, self._token_bytes = _spelled(vocabulary)
        self._sorted, self._sorted_ids = _in_order(vocabulary)
        self._path = np.zeros(self._trie.max_depth + 1, dtype=np.int32)
        self._passed = np.zeros(self._trie.max_depth + 1, dtype=np.int64)
        self._is_scarce = bool((automaton.edge_guarded == SCARCE).any())
        self._scratch = _scratch(1024, self._trie.max_depth + _AHEAD)

    def take(
        self, lazy: LazyAutomaton, node: int, written: Written, data: bytes
    ) -> tuple[int, Written]:
        """Return the node after `data`, or DEAD, and what is written then."""
        if self._is_inside_string(written, data):
            target = lazy.step(node, data)
            return target, _longer(written, data) if target != DEAD else written
        scratch = self._room(written, len(data))
        array = np.frombuffer(data, dtype=np.uint8)
        target = lazy.run(kernels.take_bytes, written, scratch, node, array)
        return target, written if target == DEAD else _copied(scratch.now)

    def live_bytes(self, lazy: LazyAutomaton, node: int, written: Written) -> NDArray[np.bool_]:
        """Return which bytes may follow, shape (256,)."""
        live = np.zeros(256, dtype=np.bool_)
        lazy.run(kernels.live_after, written, self._room(written, 1), node, live)
        return live

    def guarded(self, lazy: LazyAutomaton, node: int, trie: TokenTrie) -> Guarded:
        """Return the tokens of `trie` that pass guarded edges after `node`."""
        some = np.zeros(len(self._token_start) // 32 + 1, dtype=np.uint32)
        more = np.zeros_like(some)
        columns = _columns(trie)
        lazy.run(kernels.guarded_tokens, node, *columns, self._path, self._passed, some, more)
        return Guarded(_ids(some), _ids(more))

    def refuse(
        self,
        lazy: LazyAutomaton,
        node: int,
        written: Written,
        guarded: Guarded,
        row: NDArray[np.int32],
    ) -> None:
        """Clear in `row` (words,), the mask of `node`, what the written text rules out."""
        scratch = self._room(written, self._trie.max_depth)
        if self._is_scarce and written.at[DEPTH]:
            columns = _columns(self._trie)
            lazy.run(kernels.refuse_dead, written, scratch, node, *columns, row)
        tokens = guarded.some
        if not self._is_scarce and _begun(written):
            # The key under way ends first. Where it is like no other, what matters is a next one.
            tokens = np.concatenate((guarded.more, *self._endings(lazy, node, written, row)))
        if len(tokens):
            spelled = (self._token_start, self._token_bytes)
            lazy.run(kernels.refuse_repeats, written, scratch, node, tokens, *spelled, row)

    def _endings(
        self, lazy: LazyAutomaton, node: int, written: Written, row: NDArray[np.int32]
    ) -> Iterator[NDArray[np.int32]]:
        """Clear the tokens that make the key under way one that the object has.

        Gives those that may follow all the same: the schema may leave it open which object it is.
        """
        text = written.text.tobytes()
        starts = written.starts[written.opens[-1, 1] :].tolist()
        begun = text[starts[-1] :]
        for other, following in pairwise(starts):
            if not text.startswith(begun, other):
                continue
            rest = text[other + len(begun) : following - 2]  # between two keys are a colon, a comma
            first, last = self._beginning_with(rest)
            ids = self._sorted_ids[first:last]
            if first < last and self.take(lazy, node, written, rest)[0] == DEAD:
                np.bitwise_and.at(row, ids >> 5, ~(np.int32(1) << (ids & 31)))
            else:
                yield ids

    def _beginning_with(self, text: bytes) -> tuple[int, int]:
        """Return where in the sorted tokens those are that begin with `text`."""
        first = bisect_left(self._sorted, text)
        return first, bisect_left(self._sorted, text + b"\xff" * 4, lo=first)

    def _is_inside_string(self, written: Written, data: bytes) -> bool:
        """Return whether `data` neither ends a string nor may be refused for what it leads to."""
        if self._is_scarce or written.at[MODE] != STRING or not written.at[DEPTH]:
            return False
        return b'"' not in data and b"\\" not in data

    def _room(self, written: Written, length: int) -> Scratch:
        """Return scratch arrays for `written` and `length` bytes more."""
        needed = int(written.at[LENGTH]) + _GROWTH * (length + _AHEAD)
        if len(self._scratch.now.text) < needed or len(self._scratch.path) < length + _AHEAD:
            self._scratch = _scratch(2 * needed, length + _AHEAD)
        return self._scratch


def _ids(row: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the numbers of the bits that are set, ascending."""
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).astype(np.int32)


def _begun(written: Written) -> bool:
    """Return whether the next guard that a token passes ends a key under way."""
    if not written.at[DEPTH] or written.at[MODE] == BETWEEN:
        return False
    return bool(written.opens[-1, 0] == KEY)


@lru_cache(maxsize=8)
def _in_order(vocabulary: Vocabulary) -> tuple[list[bytes], NDArray[np.int32]]:
    """Return the tokens in the order of their bytes, and their ids."""
    ordered = sorted((token, i) for i, token in enumerate(vocabulary.tokens) if token)
    return [token for token, _ in ordered], np.array([i for _, i in ordered], dtype=np.int32)


def _longer(written: Written, data: bytes) -> Written:
    """Return the text after `data`, which is inside a string."""
    if written.opens[-1, 0] != KEY:
        return written
    at = written.at.copy()
    at[LENGTH] += len(data)
    text = np.concatenate((written.text, np.frombuffer(data, dtype=np.uint8)))
    return written._replace(text=text, at=at)


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
