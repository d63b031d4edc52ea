"""Vocabulary: token ids as bytes, and the same tokens as a trie in flat arrays.

Takes bytes and ids; knows no tokenizer (see decoding.tokenizer, which reads one) and no automaton.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from constrain.errors import VocabularyError

__all__ = ["TokenTrie", "Vocabulary"]


@dataclass(frozen=True, eq=False)
class TokenTrie:
    """All text tokens as a trie, nodes in preorder, the root left out.

    `byte` (n,) uint8: the byte on the edge into a node. `depth` (n,) int32: from 0.
    `subtree_end` (n,) int32: the first node after this node's subtree, so a dead subtree is
    skipped by one assignment. Tokens that end at node i are
    `token_ids[first_token[i]:first_token[i + 1]]`; ids with equal bytes share a node.
    """

    byte: NDArray[np.uint8]
    depth: NDArray[np.int32]
    subtree_end: NDArray[np.int32]
    first_token: NDArray[np.int32]
    token_ids: NDArray[np.int32]
    max_depth: int

    @property
    def columns(self) -> tuple[NDArray[np.uint8], *tuple[NDArray[np.int32], ...]]:
        """The arrays, as kernels take them."""
        return self.byte, self.depth, self.subtree_end, self.first_token, self.token_ids

    @staticmethod
    def build(tokens: Sequence[bytes | None]) -> TokenTrie:
        """Build the trie of the tokens that are not None and not empty."""
        ordered = sorted((t, i) for i, t in enumerate(tokens) if t)
        byte: list[int] = []
        depth: list[int] = []
        first: list[int] = []
        ids: list[int] = []
        previous = b""
        for text, token_id in ordered:
            for level in range(_common_prefix(previous, text), len(text)):
                byte.append(text[level])
                depth.append(level)
                first.append(len(ids))
            ids.append(token_id)
            previous = text
        first.append(len(ids))
        depths = np.array(depth, dtype=np.int32)
        return TokenTrie(
            byte=np.array(byte, dtype=np.uint8),
            depth=depths,
            subtree_end=_subtree_ends(depth),
            first_token=np.array(first, dtype=np.int32),
            token_ids=np.array(ids, dtype=np.int32),
            max_depth=int(depths.max()) + 1 if depth else 0,
        )


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What the engine knows of a tokenizer.

    `tokens[i]` are the bytes that id i adds to the text; None for special, added-control and unused
    ids, which are never text. `eos_ids` end a text. `size` is the width of a logit row; ids from
    `len(tokens)` up to `size` are padding and never allowed.
    """

    tokens: tuple[bytes | None, ...]
    eos_ids: tuple[int, ...]
    size: int

    def __post_init__(self) -> None:
        """Check the invariants once."""
        if not self.eos_ids:
            raise VocabularyError("the vocabulary has no end token; name at least one EOS id")
        if self.size < len(self.tokens):
            raise VocabularyError(f"{len(self.tokens)} tokens do not fit into {self.size} logits")
        outside = [i for i in self.eos_ids if not 0 <= i < self.size]
        if outside:
            raise VocabularyError(f"EOS ids {outside} are outside the {self.size} logits")

    @staticmethod
    def of(
        tokens: Iterable[bytes | None], eos_ids: Iterable[int], *, size: int | None = None
    ) -> Vocabulary:
        """Build a vocabulary; EOS ids lose their text, since they end it.

        `size` defaults to fit. A model whose logit rows are narrower than its tokenizer can never
        produce the ids beyond them: those are dropped.
        """
        listed = list(tokens)
        ends = sorted(set(eos_ids))
        width = max([len(listed), *(i + 1 for i in ends)]) if size is None else size
        kept = tuple(i for i in ends if i < width)
        texts = tuple(None if i in kept else t for i, t in enumerate(listed[:width]))
        return Vocabulary(texts, kept, width)

    @cached_property
    def trie(self) -> TokenTrie:
        """The tokens as a trie, built on first use."""
        return TokenTrie.build(self.tokens)

    @cached_property
    def byte_tokens(self) -> frozenset[int]:
        """The byte values that a token of their own spells: what can be written byte by byte."""
        return frozenset(token[0] for token in self.tokens if token is not None and len(token) == 1)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything above: equal for equal vocabularies, on every machine."""
        digest = hashlib.sha256(f"{self.size} {self.eos_ids} ".encode())
        for token in self.tokens:
            length = -1 if token is None else len(token)
            digest.update(length.to_bytes(4, "little", signed=True))
            digest.update(token or b"")
        return digest.hexdigest()


def _common_prefix(left: bytes, right: bytes) -> int:
    for i, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return i
    return min(len(left), len(right))


def _subtree_ends(depth: list[int]) -> NDArray[np.int32]:
    ends = np.empty(len(depth), dtype=np.int32)
    open_nodes: list[int] = []
    for i, level in enumerate(depth):
        while len(open_nodes) > level:
            ends[open_nodes.pop()] = i
        open_nodes.append(i)
    for i in open_nodes:
        ends[i] = len(depth)
    return ends
