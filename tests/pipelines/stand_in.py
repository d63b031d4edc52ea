"""A model for whole runs: answers each document as a function says, through the real engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from constrain.decoding.model import LanguageModel
from pipelines.observer import NullObserver
from tests.fakes import EOS, ToyTokenizer, scripted_model

__all__ = ["Watcher", "read_lines", "stand_in", "use_model"]

Answer = Callable[[str], str]


class ChatTokenizer(ToyTokenizer):
    """The toy tokenizer with the simplest chat: `role: content`, a line each."""

    def token_bytes(self, token_id: int) -> bytes | None:
        return self.tokens[token_id]

    def encode_split(
        self, messages: Sequence[Mapping[str, str]], sentinel: str, untrusted: Mapping[str, str]
    ) -> tuple[list[int], list[int]]:
        text = "".join(f"{m['role']}: {m['content']}\n" for m in messages) + "assistant: "
        for name, value in untrusted.items():
            assert text.count(name) == 1
            text = text.replace(name, value)
        before, after = text.split(sentinel)
        return self.encode(before), self.encode(after)


class Watcher(NullObserver):
    """Remembers what a run told."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.total: int | None = None
        self.documents = 0

    def started(self, total: int | None) -> None:
        self.total = total

    def advanced(self, documents: int, tokens: int) -> None:
        self.documents += documents

    def warned(self, message: str) -> None:
        self.warnings.append(message)


def stand_in(answer: Answer, *, context_length: int = 4096) -> LanguageModel:
    """Return a model that wishes to answer `answer(document)`; the constraint has the last word."""

    def script(text: bytes) -> Mapping[int, float]:
        head, begun, written = text.rpartition(b"\nassistant: ")
        if not begun:  # the shared prefix alone
            return {}
        document = head.rpartition(b"user: ")[2].decode("utf-8", "replace")
        wanted = answer(document).encode()
        if not wanted.startswith(written):
            return {}
        following = wanted[len(written) : len(written) + 1]
        return {following[0] if following else EOS: 12.0}

    model = scripted_model(script, context_length=context_length)
    return replace(model, name="stand-in", tokenizer=ChatTokenizer())  # type: ignore[arg-type]


def use_model(monkeypatch: pytest.MonkeyPatch, model: LanguageModel) -> None:
    """Let runs load `model`, and keep them from the cache on disk."""
    for module in ("extract", "classify"):
        monkeypatch.setattr(f"pipelines.{module}.load", lambda _config, _observer: model)
    monkeypatch.setattr("constrain.store.default_store", lambda: None)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSONL the strict way: lines end at line feeds alone."""
    import json

    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
