"""MaskCache: the token masks of one constraint, each computed once.

A mask depends on where the matcher stands, and of the stack only on what a token can reach. So a
node is first *abstracted* (stack cut below a few frames, loop counts far from their bounds made
alike); item 7 and item 8 of an array, or character 70 and 71 of a bounded string, share a mask.
Equal masks are stored once. Everything is bounded: over its limits the cache starts afresh, and
matchers carry their place over.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from constrain.bitmask import words
from constrain.configurations import LazyAutomaton
from constrain.kernels import DEAD
from constrain.limits import Limits
from constrain.plain import LONGEST, PlainTokens, factor
from constrain.siblings import NO_TOKENS, Guarded, Siblings, Written
from constrain.tables import CompiledConstraint
from constrain.vocabulary import Vocabulary

__all__ = ["MaskCache"]


_KEPT_FRAMES = (2, 6, 1 << 15)
"""Stack depths tried one after another: most tokens return through few frames."""
_HEAVY = 9
"""First bytes asked where most tokens lead; in Llama 3.1 a third of all tokens begins with them."""
_STEP_BYTES = 150
"""About what one remembered step, (node, token) to node, takes."""


class MaskCache:
    """Masks and lazily determinised automaton of `compiled`, shared by its matchers.

    Matchers that share one belong to one thread at a time: they write into the same arrays.
    """

    def __init__(self, compiled: CompiledConstraint, limits: Limits | None = None) -> None:
        self.compiled = compiled
        self._limits = limits or Limits()
        vocabulary = compiled.vocabulary
        self._tokens = vocabulary.tokens
        self._trie = vocabulary.trie
        self._plain = _plain_tokens(vocabulary)
        self._paths = np.zeros((2, self._trie.max_depth + LONGEST + 2), dtype=np.int32)
        self._heavy = _heavy_bytes(vocabulary)
        self._words = words(vocabulary.size)
        self._end_words, self._end_bits = _end_bits(vocabulary.eos_ids)
        self.siblings = (
            Siblings(compiled.automaton, vocabulary)
            if compiled.automaton.edge_guarded.any()
            else None
        )
        self.walks = 0
        self._clear()

    def _clear(self) -> None:
        self.lazy = LazyAutomaton(self.compiled.automaton, self._limits)
        self._rows: list[NDArray[np.int32]] = []
        self._row_of_bytes: dict[bytes, int] = {}
        self._row_of_node: dict[int, int | None] = {}
        self._after: dict[tuple[int, int], int] = {}
        self._guarded: dict[int, Guarded] = {}

    @property
    def masks(self) -> int:
        """How many different masks are kept."""
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """How many bytes the cache takes, roughly."""
        rows = len(self._rows) * 4 * self._words
        return self.lazy.nbytes + rows + len(self._after) * _STEP_BYTES

    def fill(self, node: int, row: NDArray[np.int32]) -> None:
        """Write the mask of `node` into `row` (words,), end tokens included when it accepts."""
        index = self._row_of_node.get(node)
        if index is None:
            index = self._find(node)
        row[: self._words] = self._rows[index]
        row[self._words :] = 0
        if self.lazy.is_accepting(node):
            row[self._end_words] |= self._end_bits

    def refuse_repeats(self, node: int, written: Written, row: NDArray[np.int32]) -> None:
        """Clear in `row`, filled for `node`, the tokens that `siblings` does not allow."""
        if self.siblings is not None:
            guarded = self._guarded_tokens(node)
            self.siblings.refuse(self.lazy, node, written, guarded, row)

    def is_guarded(self, node: int, token_id: int) -> bool:
        """Return whether the token passes a guarded edge."""
        guarded = self._guarded_tokens(node).some
        place = int(np.searchsorted(guarded, token_id))
        return place < len(guarded) and int(guarded[place]) == token_id

    def after_bytes(self, node: int, written: Written, data: bytes) -> tuple[int, Written]:
        """Return the node after `data`, or DEAD, and what is written then."""
        if self.siblings is None:
            return self.lazy.step(node, data), written
        return self.siblings.take(self.lazy, node, written, data)

    def live_bytes(self, node: int, written: Written) -> NDArray[np.bool_]:
        """Return which bytes may follow, shape (256,)."""
        if self.siblings is None:
            return self.lazy.live_bytes(node)
        return self.siblings.live_bytes(self.lazy, node, written)

    def spelled(self, token_id: int) -> bytes:
        """Return the bytes of a token; none for ids that are no text."""
        return self._tokens[token_id] or b""

    def after_token(self, node: int, token_id: int) -> int:
        """Return the node after the bytes of `token_id`, or DEAD; ids that are no text are DEAD."""
        known = self._after.get((node, token_id))
        if known is None:
            data = self._tokens[token_id] if 0 <= token_id < len(self._tokens) else None
            known = self.lazy.step(node, data) if data else DEAD
            self._after[node, token_id] = known
        return known

    def renewed(self) -> bool:
        """Start afresh when the cache is over its limits; True when it did."""
        over = (
            self.lazy.nodes > self._limits.configurations or self.nbytes > self._limits.mask_bytes
        )
        if over:
            self._clear()
        return over

    def _find(self, node: int) -> int:
        """Return the index of the mask of `node`, computing it where no equal place has one."""
        for kept_frames in _KEPT_FRAMES:
            alike = self.lazy.abstract(node, kept_frames, self._trie.max_depth)
            if alike not in self._row_of_node:
                self._row_of_node[alike] = self._walk(alike, kept_frames)
            index = self._row_of_node[alike]
            if index is not None:
                self._row_of_node[node] = index
                return index
        raise AssertionError("a walk over a whole stack cannot reach a cut")

    def _guarded_tokens(self, node: int) -> Guarded:
        """Return the tokens that pass guarded edges after `node`."""
        known = self._guarded.get(node)
        if known is not None or self.siblings is None:
            return NO_TOKENS if known is None else known
        self._find(node)
        for kept_frames in _KEPT_FRAMES:
            alike = self.lazy.abstract(node, kept_frames, self._trie.max_depth)
            if self._row_of_node.get(alike) is None:
                continue  # a token returns into what is cut off
            if alike == DEAD:  # nothing but an end token may follow
                self._guarded[node] = NO_TOKENS
                return NO_TOKENS
            if alike not in self._guarded:
                plain = self._plain_reach(alike, kept_frames) is not None
                trie = self._plain.others if plain else self._trie
                self._guarded[alike] = self.siblings.guarded(self.lazy, alike, trie)
            self._guarded[node] = self._guarded[alike]
            return self._guarded[node]
        raise AssertionError("a walk over a whole stack cannot reach a cut")

    def _walk(self, node: int, kept_frames: int) -> int | None:
        """Compute a mask and return its index; None when the walk reached a cut stack."""
        row = np.zeros(self._words, dtype=np.uint32)
        if node != DEAD:
            self.walks += 1
            plain = self._plain_reach(node, kept_frames)
            if plain is not None:
                row |= self._plain.rows[plain]
                done = self.lazy.walk_trie(node, self._plain.others, self._paths[0], row)
            else:
                done = self._walk_whole(node, kept_frames, row)
            if not done:
                return None
        return self._kept(row)

    def _walk_whole(self, node: int, kept_frames: int, row: NDArray[np.uint32]) -> bool:
        """Walk all tokens; beside a plain place that most of them lead to, where there is one."""
        other = self.lazy.main_target(node, self._heavy)
        index = None if other in (DEAD, node) else self._find_plain(other, kept_frames)
        if index is None:
            return self.lazy.walk_trie(node, self._trie, self._paths[0], row)
        row |= self._rows[index].view(np.uint32)
        return self.lazy.walk_beside(node, other, self._trie, self._paths, row)

    def _find_plain(self, node: int, kept_frames: int) -> int | None:
        """Return the index of the mask of `node` if it is known, or found without a whole walk."""
        alike = self.lazy.abstract(node, kept_frames, self._trie.max_depth)
        if alike not in self._row_of_node and self._plain_reach(alike, kept_frames) is not None:
            self._row_of_node[alike] = self._walk(alike, kept_frames)
        return self._row_of_node.get(alike)

    def _plain_reach(self, node: int, kept_frames: int) -> int | None:
        """Return how many plain characters may follow; None where it matters which they are."""
        if node == DEAD:
            return None
        reach, writable = self._trie.max_depth, self._plain.writable
        return self.lazy.plain_reach(node, kept_frames, reach, writable, LONGEST)

    def _kept(self, row: NDArray[np.uint32]) -> int:
        """Return the index of a row; equal rows are kept once."""
        key = row.tobytes()
        index = self._row_of_bytes.setdefault(key, len(self._rows))
        if index == len(self._rows):
            self._rows.append(row.view(np.int32))
        return index


@lru_cache(maxsize=8)
def _plain_tokens(vocabulary: Vocabulary) -> PlainTokens:
    """Factor a vocabulary once (vocabularies are told apart by identity)."""
    return factor(vocabulary)


@lru_cache(maxsize=8)
def _heavy_bytes(vocabulary: Vocabulary) -> NDArray[np.uint8]:
    """Return the bytes that most trie nodes lie below, the heaviest first."""
    trie = vocabulary.trie
    firsts = np.flatnonzero(trie.depth == 0)
    order = np.argsort(firsts - trie.subtree_end[firsts], kind="stable")
    return trie.byte[firsts[order[:_HEAVY]]]


def _end_bits(eos_ids: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the words that hold end tokens and the bits to set in them."""
    bits: dict[int, int] = {}
    for token_id in eos_ids:
        bits[token_id >> 5] = bits.get(token_id >> 5, 0) | 1 << (token_id & 31)
    values = np.array(list(bits.values()), dtype=np.uint32).view(np.int32)
    return np.array(list(bits), dtype=np.int64), values
