"""TextTokenizer: text and chats to token ids, token ids to bytes.

Takes a fast tokenizer of transformers. Text of a document can never become a control token, and
the bytes of ids are exactly those the constraint's automaton accepts. Knows no model weights.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from tokenizers import Tokenizer

from constrain.decoding import chat
from constrain.decoding.token_bytes import (
    control_ids,
    plain_description,
    token_bytes,
    without_prefix_space,
)
from constrain.errors import ModelError, VocabularyError
from constrain.vocabulary import Vocabulary

__all__ = ["TextTokenizer"]

_SAMPLES = ('{"a": [1, 2.5, null]}\n', "the quick brown fox, 2024-01-31; a/b_c <x> @ 100%")


class TextTokenizer:
    """A tokenizer whose ids are bytes.

    `tokens[i]` are the bytes of id i; None for control tokens (added, special, unknown), which are
    never text. `tokenizer` is a transformers tokenizer with a `tokenizers` backend.

    Raises VocabularyError when the tokenizer has no such backend, or its ids are not bytes.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        description = _description(tokenizer)
        self.tokens = token_bytes(description)
        self._control = control_ids(description)
        self._added = {t["content"]: int(t["id"]) for t in description["added_tokens"]}
        self._start: Tokenizer = tokenizer.backend_tokenizer
        self._middle = _backend(without_prefix_space(description))
        self._plain = _backend(plain_description(description))
        self._check()

    def encode(self, text: str) -> list[int]:
        """Return the ids of plain text; no BOS, no EOS, and no control token whatever it says."""
        ids: list[int] = self._plain.encode(text, add_special_tokens=False).ids
        if self._control.isdisjoint(ids):
            return ids
        # A spelling slipped through, or a character is unknown: spell it out, drop the unknown.
        spelled = (i for c in text for i in self._plain.encode(c, add_special_tokens=False).ids)
        return [i for i in spelled if i not in self._control]

    def encode_chat(
        self, messages: Sequence[Mapping[str, str]], untrusted: Mapping[str, str]
    ) -> list[int]:
        """Return the prompt ids of a chat, up to where the answer begins.

        Contents may hold sentinels, the keys of `untrusted`; each is replaced by its text, which
        stays text. What the template and the messages say otherwise may hold control tokens.

        Raises ModelError when the chat template fails or loses a sentinel.
        """
        prompt = self._prompt(messages)
        _require(prompt, untrusted)
        return self._encode_pieces(_split(prompt, untrusted), untrusted, first=True)

    def encode_split(
        self, messages: Sequence[Mapping[str, str]], sentinel: str, untrusted: Mapping[str, str]
    ) -> tuple[list[int], list[int]]:
        """Return the ids before and after the one place where `sentinel` (the document) stands.

        Raises ModelError unless the rendered prompt holds the sentinel exactly once.
        """
        holes = {key: text for key, text in untrusted.items() if key != sentinel}
        prompt = self._prompt(messages)
        _require(prompt, holes)
        parts = prompt.split(sentinel)
        if len(parts) != 2:
            raise ModelError(
                f"the prompt holds the document {len(parts) - 1} times; "
                "write it exactly once, in one message the chat template keeps"
            )
        before = self._encode_pieces(_split(parts[0], holes), holes, first=True)
        after = self._encode_pieces(_split(parts[1], holes), holes, first=False)
        return before, after

    def token_bytes(self, token_id: int) -> bytes | None:
        """Return the bytes that `token_id` adds to a text, None for a control or unused id."""
        return self.tokens[token_id] if token_id < len(self.tokens) else None

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`; control ids add nothing, a cut character becomes U+FFFD."""
        joined = b"".join(self.token_bytes(i) or b"" for i in ids)
        return joined.decode("utf-8", errors="replace")

    def vocabulary(self, *, size: int, eos_ids: Iterable[int]) -> Vocabulary:
        """Return the engine's view: `size` logits a row, ending on `eos_ids` and on `end_ids`."""
        return Vocabulary.of(self.tokens, {*eos_ids, *self.end_ids}, size=size)

    @cached_property
    def end_ids(self) -> frozenset[int]:
        """The ids that end an answer, as far as the tokenizer and its chat template say."""
        known = {self._tokenizer.eos_token_id} - {None}
        if chat.has_template(self._tokenizer):
            token = chat.end_of_turn(self._tokenizer, self._added)
            known |= {self._added[token]} if token else set()
        return frozenset(int(i) for i in known)

    def _prompt(self, messages: Sequence[Mapping[str, str]]) -> str:
        if chat.has_template(self._tokenizer):
            return chat.render(self._tokenizer, messages)
        return "\n\n".join(m["content"] for m in messages) + "\n"

    def _encode_pieces(
        self, pieces: Iterable[tuple[str, bool]], untrusted: Mapping[str, str], *, first: bool
    ) -> list[int]:
        ids = self._opening() if first and not chat.has_template(self._tokenizer) else []
        backend = self._start if first else self._middle
        for piece, is_sentinel in pieces:
            if is_sentinel:
                ids += self.encode(untrusted[piece])
            elif piece:
                ids += backend.encode(piece, add_special_tokens=False).ids
            backend = self._middle
        return ids

    def _opening(self) -> list[int]:
        """Return what the tokenizer puts before plain text: nothing, or BOS."""
        with_opening = self._start.encode("a", add_special_tokens=True).ids
        bare = self._start.encode("a", add_special_tokens=False).ids
        at = next((i for i, t in enumerate(with_opening) if t == bare[0]), 0) if bare else 0
        return list(with_opening[:at])

    def _check(self) -> None:
        """Make sure that encoding and decoding undo each other, or refuse the tokenizer."""
        for sample in _SAMPLES:
            again = self.decode(self.encode(sample))
            if again != sample:
                raise VocabularyError(
                    f"the tokenizer turns {sample!r} into {again!r}, so texts cannot be written "
                    "exactly; use a model with a byte-level BPE or SentencePiece tokenizer"
                )


def _description(tokenizer: Any) -> dict[str, Any]:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if not isinstance(backend, Tokenizer):
        raise VocabularyError(
            f"{type(tokenizer).__name__} is not a fast tokenizer, so its tokens cannot be read as "
            "bytes; add a tokenizer.json to the model's folder"
        )
    described: dict[str, Any] = json.loads(backend.to_str())
    return described


def _backend(description: Mapping[str, Any]) -> Tokenizer:
    return Tokenizer.from_str(json.dumps(description, ensure_ascii=False))


def _require(prompt: str, sentinels: Collection[str]) -> None:
    missing = [s for s in sentinels if s not in prompt]
    if missing:
        raise ModelError(
            f"the chat template drops {len(missing)} of the {len(sentinels)} texts of the prompt; "
            "put them into messages the template keeps"
        )


def _split(text: str, sentinels: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Cut `text` at the sentinels: (piece, is it a sentinel)."""
    if not sentinels:
        yield text, False
        return
    longest_first = sorted(sentinels, key=len, reverse=True)
    pattern = "(" + "|".join(map(re.escape, longest_first)) + ")"
    for n, piece in enumerate(re.split(pattern, text)):
        yield piece, n % 2 == 1
