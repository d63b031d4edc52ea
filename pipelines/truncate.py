"""Prompt token ids of a document, cut to what the model's context has room for.

Takes a Prompter and a tokenizer; the part of the prompt that all documents share is encoded once.
A cut falls between tokens and never inside a character, and only ever takes from the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipelines.documents import Document, Origin
from pipelines.errors import ConfigError, DocumentError
from pipelines.prompts import Prompter

__all__ = ["Cut", "Encoded", "PromptEncoder", "Tokenizer"]

_MIN_ROOM = 8
# No tokenizer needs a look at more characters than this for each token it is going to keep.
_CHARACTERS_PER_TOKEN = 64


class Tokenizer(Protocol):
    """What is needed of `constrain.decoding.tokenizer.TextTokenizer`."""

    def encode(self, text: str, /) -> list[int]:
        """Return the ids of plain text."""

    def encode_split(
        self,
        messages: Sequence[Mapping[str, str]],
        sentinel: str,
        untrusted: Mapping[str, str],
        /,
    ) -> tuple[list[int], list[int]]:
        """Return the ids before and after the sentinel."""

    def token_bytes(self, token_id: int, /) -> bytes | None:
        """Return the bytes of a token."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What was left of a text that was too long, in characters."""

    kept: int
    of: int


@dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt, ready to run."""

    ids: tuple[int, ...]
    cut: Cut | None = None


class PromptEncoder:
    """Encodes prompts into at most `context_length - max_new_tokens` ids."""

    def __init__(
        self, prompter: Prompter, tokenizer: Tokenizer, *, context_length: int, max_new_tokens: int
    ) -> None:
        self._prompter = prompter
        self._tokenizer = tokenizer
        self._budget = context_length - max_new_tokens
        self._context = f"{context_length:,} tokens of context, {max_new_tokens:,} for the answer"
        self._shared: tuple[list[int], list[int]] | None = None
        if prompter.same_for_all:
            self._shared = self._first_split()

    @property
    def shared_prefix(self) -> tuple[int, ...]:
        """The ids that every prompt begins with; empty when prompts differ before the document."""
        return tuple(self._shared[0]) if self._shared else ()

    def encode(self, document: Document) -> Encoded:
        """Return the prompt of `document`; raise `DocumentError` when it can't be made to fit."""
        before, after = self._shared or self._split(document)
        room = self._room(before, after)
        if room < _MIN_ROOM:
            raise DocumentError(self._no_room(before, after), stage="prompt")
        ids, cut = self._fit(document.text, room)
        return Encoded((*before, *ids, *after), cut)

    def encode_empty(self) -> Encoded:
        """Return the prompt of a document without text."""
        blank = Document(Origin("", "the empty document"), "")
        before, after = self._shared or self._split(blank)
        return Encoded((*before, *after))

    def _first_split(self) -> tuple[list[int], list[int]]:
        try:
            before, after = self._split(Document(Origin("", "the prompt"), ""))
        except DocumentError as error:
            raise ConfigError(error.fact, place=error.place, remedy=error.remedy) from None
        if self._room(before, after) < _MIN_ROOM:
            remedy = "take fewer examples, a shorter prompt or schema, or lower --max-new-tokens"
            raise ConfigError(self._no_room(before, after), remedy=remedy)
        return before, after

    def _split(self, document: Document) -> tuple[list[int], list[int]]:
        prompt = self._prompter.prompt(document)
        return self._tokenizer.encode_split(prompt.messages, prompt.document, prompt.untrusted)

    def _room(self, before: list[int], after: list[int]) -> int:
        return self._budget - len(before) - len(after)

    def _no_room(self, before: list[int], after: list[int]) -> str:
        used = len(before) + len(after)
        return f"the prompt takes {used:,} tokens without the document; there are {self._context}"

    def _fit(self, text: str, room: int) -> tuple[list[int], Cut | None]:
        shown = text[: room * _CHARACTERS_PER_TOKEN]
        ids = self._tokenizer.encode(shown)
        if len(ids) <= room and len(shown) == len(text):
            return ids, None
        kept = self._whole_characters(ids[:room])
        return kept, Cut(len(self._text(kept)), len(text))

    def _whole_characters(self, ids: list[int]) -> list[int]:
        """Drop tokens from the end until they don't end inside a character."""
        for drop in range(min(4, len(ids))):
            kept = ids[: len(ids) - drop]
            if "\ufffd" not in self._text(kept[-8:])[-1:]:
                return kept
        return ids

    def _text(self, ids: list[int]) -> str:
        data = b"".join(self._tokenizer.token_bytes(i) or b"" for i in ids)
        return data.decode("utf-8", "replace")
