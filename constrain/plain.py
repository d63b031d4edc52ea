"""The vocabulary factored by runs of plain string characters.

Most tokens of a real vocabulary are nothing but characters that a JSON string may hold as they are
(Llama 3.1: 121,825 of 128,256). Where it does not matter to a matcher which plain characters it
reads, only how many, those tokens are allowed up to some length, and of the others one walk is
enough for all that differ in the plain characters they begin with: a stand-in takes their places.
A few thousand texts instead of the whole trie.

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

__all__ = ["LONGEST", "PlainTokens", "factor"]

_ASCII = tuple(b for b in range(0x20, 0x80) if b not in b'"\\')
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


LONGEST = 24
"""Longer runs are rare: such tokens are walked as they are."""


@dataclass(frozen=True, eq=False)
class PlainTokens:
    """`rows[k]` (words,) uint32: the tokens that are at most k plain characters and nothing else.

    `others` is the trie of all other tokens, the plain characters they begin with replaced by as
    many of one (k up to LONGEST); `writable` (256,): the bytes that plain characters are made of,
    where others could stand.
    """

    rows: NDArray[np.uint32]
    others: TokenTrie
    writable: NDArray[np.bool_]


def factor(vocabulary: Vocabulary) -> PlainTokens:
    """Split every token into its leading run of plain characters and the rest."""
    writable = np.zeros(256, dtype=np.bool_)
    writable[list(vocabulary.byte_tokens)] = True
    stand_in = next((bytes((b,)) for b in _ASCII if writable[b]), b"")
    one = b"|".join(_patterns(writable)) if stand_in else b"(?!)"
    run, char = re.compile(b"(?:" + one + b")*"), re.compile(b"(?:" + one + b")")
    rows = np.zeros((LONGEST + 1, words(vocabulary.size)), dtype=np.uint32)
    others: list[bytes | None] = []
    for token_id, token in enumerate(vocabulary.tokens):
        match = run.match(token) if token else None
        length = match.end() if match else 0
        count = len(char.findall(token, 0, length)) if token and length else 0
        if not token or count > LONGEST:
            others.append(token)
        elif length < len(token):
            others.append(stand_in * count + token[length:])
        else:
            others.append(None)
            rows[count, token_id >> 5] |= np.uint32(1 << (token_id & 31))
    np.bitwise_or.accumulate(rows, axis=0, out=rows)
    return PlainTokens(rows, TokenTrie.build(others), writable)


def _patterns(writable: NDArray[np.bool_]) -> list[bytes]:
    """Return regexes of one plain character, each a sequence of byte classes."""
    choices: list[list[Sequence[int]]] = [[_ASCII]]
    choices += [[range(low, high + 1) for low, high in sequence] for sequence in _SEQUENCES]
    patterns = []
    for sequence in choices:
        classes = [[b for b in column if writable[b]] for column in sequence]
        if all(classes):
            patterns.append(b"".join(_byte_class(column) for column in classes))
    return patterns or [b"(?!)"]


def _byte_class(members: list[int]) -> bytes:
    return b"[" + b"".join(b"\\x%02x" % b for b in members) + b"]"
