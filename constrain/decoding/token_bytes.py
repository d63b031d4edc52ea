"""Read a tokenizer's ids as bytes, from its own description.

Takes the JSON of a `tokenizers` backend (what `tokenizer.json` holds), gives the bytes that each id
adds to a text, and a second description that spells text only and never a control token. The kind
is read from the decoder and the model of the description, never from a name. Knows no model.

Three families are understood, all through the same decoder steps:
    byte-level BPE and tiktoken style   decoder ByteLevel: printable stand-ins for the 256 bytes
    SentencePiece (BPE or Unigram)      decoder Replace/Metaspace `▁`, ByteFallback `<0x0A>`
Everything else (WordPiece, word suffixes) loses bytes when it decodes, so it is refused.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from constrain.errors import VocabularyError

__all__ = ["control_ids", "plain_description", "token_bytes", "without_prefix_space"]

Description = Mapping[str, Any]
Step = Callable[[bytes], bytes]

_BYTE_TOKEN = re.compile(rb"<0x([0-9A-Fa-f]{2})>")
_NO_TEXT_STEPS = {"Fuse", "Strip"}  # they act on whole texts; a token's bytes are what it adds


def token_bytes(description: Description) -> tuple[bytes | None, ...]:
    """Return the bytes of each id, None for added tokens, the unknown token and unused ids.

    Raises VocabularyError when the description belongs to no family that spells every byte.
    """
    _check_model(description["model"])
    pieces = _pieces(description)
    steps = [*_decoder_steps(description)]
    control = control_ids(description)
    size = 1 + max([*pieces, *control])
    texts: list[bytes | None] = [None] * size
    for token_id, piece in pieces.items():
        if token_id not in control:
            texts[token_id] = _apply(steps, piece.encode())
    return tuple(texts)


def control_ids(description: Description) -> frozenset[int]:
    """Return the ids that are never text: every added token, and the unknown token."""
    added = {int(token["id"]) for token in description["added_tokens"]}
    model = description["model"]
    if (position := model.get("unk_id")) is not None:
        added.add(int(position))
    if (unknown := model.get("unk_token")) is not None and unknown in model["vocab"]:
        added.add(int(model["vocab"][unknown]))
    return frozenset(added)


def plain_description(description: Description) -> dict[str, Any]:
    """Return a description that tokenises any text as text.

    Added tokens are gone, and control pieces that also stand in the model's own vocabulary get a
    name that no text holds, so that `</s>` in a document becomes `</`, `s`, `>`. Ids stay as they
    are. No word is prefixed with a space: text is taken to stand in the middle of a prompt.
    """
    plain = without_prefix_space(description)
    plain["added_tokens"] = []
    model = plain["model"]
    control = control_ids(description)
    hidden = {p: _hidden_name(i) for i, p in _pieces(description).items() if i in control}
    if isinstance(model["vocab"], dict):
        model["vocab"] = {hidden.get(p, p): i for p, i in model["vocab"].items()}
        model["merges"] = [m for m in model["merges"] if not _makes_any(m, hidden)]
        model["unk_token"] = hidden.get(model.get("unk_token"), model.get("unk_token"))
    else:
        model["vocab"] = [[hidden.get(p, p), score] for p, score in model["vocab"]]
    return plain


def without_prefix_space(description: Description) -> dict[str, Any]:
    """Return a copy that puts no space before the text, truncates nothing and adds no BOS."""
    model = description["model"]
    changed = {k: copy.deepcopy(v) for k, v in description.items() if k != "model"}
    changed |= {"model": dict(model), "truncation": None, "padding": None, "post_processor": None}
    for step in _flat(changed.get("pre_tokenizer")):
        if step["type"] == "Metaspace":
            step.pop("add_prefix_space", None)
            step["prepend_scheme"] = "never"
        elif step["type"] == "ByteLevel":
            step["add_prefix_space"] = False
    changed["normalizer"] = _drop_prepend(changed.get("normalizer"))
    return changed


def _check_model(model: Mapping[str, Any]) -> None:
    kind = model["type"]
    if kind not in ("BPE", "Unigram"):
        raise VocabularyError(
            f"the tokenizer's model is {kind}, which cannot spell every text; "
            "use a model with a byte-level BPE, SentencePiece or tiktoken tokenizer"
        )
    for key in ("end_of_word_suffix", "continuing_subword_prefix"):
        if model.get(key):
            raise VocabularyError(
                f"the tokenizer marks words with {key} = {model[key]!r}, so its tokens have no "
                "bytes of their own; use a model with a byte-level or SentencePiece tokenizer"
            )


def _pieces(description: Description) -> dict[int, str]:
    vocabulary = description["model"]["vocab"]
    if isinstance(vocabulary, Mapping):
        return {int(i): piece for piece, i in vocabulary.items()}
    return {i: piece for i, (piece, _score) in enumerate(vocabulary)}


def _decoder_steps(description: Description) -> Iterator[Step]:
    steps = [*_flat(description.get("decoder"))]
    if not steps:
        raise VocabularyError(
            "the tokenizer has no decoder, so the bytes of its tokens are unknown; "
            "use a tokenizer.json that names one"
        )
    for step in steps:
        if step["type"] not in _NO_TEXT_STEPS:
            yield _decoder_step(step)


def _decoder_step(step: Mapping[str, Any]) -> Step:
    kind = step["type"]
    if kind == "ByteLevel":
        return _byte_level
    if kind == "ByteFallback":
        return _byte_fallback
    if kind == "Metaspace":
        return _replace(step["replacement"], " ")
    if kind == "Replace" and "String" in step["pattern"]:
        return _replace(step["pattern"]["String"], step["content"])
    raise VocabularyError(
        f"the tokenizer's decoder has a step {kind!r} whose bytes cannot be told token by token; "
        "use a model with a byte-level BPE, SentencePiece or tiktoken tokenizer"
    )


def _replace(old: str, new: str) -> Step:
    return lambda piece: piece.replace(old.encode(), new.encode())


def _byte_fallback(piece: bytes) -> bytes:
    found = _BYTE_TOKEN.fullmatch(piece)
    return bytes([int(found[1], 16)]) if found else piece


def _byte_level(piece: bytes) -> bytes:
    """Undo the stand-ins; a piece with any other character stands for itself."""
    table = _byte_of_stand_in()
    text = piece.decode()
    return bytes(table[c] for c in text) if all(c in table for c in text) else piece


@cache
def _byte_of_stand_in() -> dict[str, int]:
    """Return GPT-2's table: printable bytes are themselves, the others 256, 257, ... in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(others)}


def _apply(steps: list[Step], piece: bytes) -> bytes:
    for step in steps:
        piece = step(piece)
    return piece


def _flat(step: Any) -> Iterator[dict[str, Any]]:
    """Walk a step of the description, and the steps of a Sequence inside it."""
    if not step:
        return
    if step["type"] != "Sequence":
        yield step
        return
    for key in ("decoders", "pretokenizers", "normalizers"):
        for inner in step.get(key, ()):
            yield from _flat(inner)


def _drop_prepend(normalizer: Any) -> Any:
    kept = [step for step in _flat(normalizer) if step["type"] != "Prepend"]
    return {"type": "Sequence", "normalizers": kept} if kept else None


def _hidden_name(token_id: int) -> str:
    return f"\ufdd0control {token_id}\ufdd1"


def _makes_any(merge: str | list[str], hidden: Mapping[str, str]) -> bool:
    left, right = merge.split(" ", 1) if isinstance(merge, str) else merge
    return left in hidden or right in hidden or left + right in hidden
