"""The vocabulary factored by runs of plain string characters.

Most tokens of a real vocabulary are nothing but characters that a JSON string may hold as they are
(Llama 3.1: 121,825 of 128,256). Where a matcher stands in the body of a string that takes any such
character and stays as it is, they are all allowed, and of the others only what comes after their
leading run needs a walk: a few thousand distinct rests instead of the whole trie.

Takes a Vocabulary; knows no automaton. Plain is every character from U+0020 on except `"` and
the backslash whose bytes the vocabulary can all write alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.bitmask import words
from constrain.vocabulary import TokenTrie, Vocabulary

__all__ = ["PlainTokens", "factor"]

_ASCII = (0x20, 0x7F)
_SEQUENCES = (
    ((0xC2, 0xDF), (0x80, 0xBF)),
    ((0xE0, 0xE0), (0xA0, 0xBF), (0x80, 0xBF)),
    ((0xE1, 0xEC), (0x80, 0xBF), (0x80, 0xBF)),
    ((0xED, 0xED), (0x80, 0x9F), (0x80, 0xBF)),
    ((0xEE, 0xEF), (0x80, 0xBF), (0x80, 0xBF)),
    ((0xF0, 0xF0), (0x90, 0xBF), (0x80, 0xBF), (0x80, 0xBF)),
    ((0xF1, 0xF3), (0x80, 0xBF), (0x80, 0xBF), (0x80, 0xBF)),
    ((0xF4, 0xF4), (0x80, 0x8F), (0x80, 0xBF), (0x80, 0xBF)),
)
"""UTF-8 of the characters beyond ASCII (RFC 3629 section 4)."""


@dataclass(frozen=True, eq=False)
class PlainTokens:
    """`row` (words,) uint32: the tokens that are plain characters through and through.

    `rests` is the trie of what the other tokens hold after their leading plain characters;
    `writable` (256,): the bytes that plain characters are made of, where others could stand.
    """

    row: NDArray[np.uint32]
    rests: TokenTrie
    writable: NDArray[np.bool_]


def factor(vocabulary: Vocabulary) -> PlainTokens:
    """Split every token into its leading run of plain characters and the rest."""
    writable = np.zeros(256, dtype=np.bool_)
    writable[list(vocabulary.byte_tokens)] = True
    run = re.compile(b"(?:" + b"|".join(_patterns(writable)) + b")*")
    row = np.zeros(words(vocabulary.size), dtype=np.uint32)
    rests: list[bytes | None] = []
    for token_id, token in enumerate(vocabulary.tokens):
        match = run.match(token) if token else None
        rest = token[match.end() :] if token and match else None
        if rest == b"":
            row[token_id >> 5] |= np.uint32(1 << (token_id & 31))
        rests.append(rest)
    return PlainTokens(row, TokenTrie.build(rests), writable)


def _patterns(writable: NDArray[np.bool_]) -> list[bytes]:
    """Return regexes of one plain character, each a sequence of byte classes."""
    ascii_bytes = [b for b in range(_ASCII[0], _ASCII[1] + 1) if b not in b'"\\']
    choices: list[list[Sequence[int]]] = [[ascii_bytes]]
    choices += [[range(low, high + 1) for low, high in sequence] for sequence in _SEQUENCES]
    patterns = []
    for sequence in choices:
        classes = [[b for b in column if writable[b]] for column in sequence]
        if all(classes):
            patterns.append(b"".join(_byte_class(column) for column in classes))
    return patterns or [b"(?!)"]


def _byte_class(members: list[int]) -> bytes:
    return b"[" + b"".join(b"\\x%02x" % b for b in members) + b"]"
