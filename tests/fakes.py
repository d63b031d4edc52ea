"""Stand-ins for tests: a toy vocabulary, and a scripted model that runs through the real cache.

The scripted model keeps its input tokens in the cache as keys, and reads its history back through
the mask it is given: so a test sees at once when a token lands in a wrong slot, column or position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from constrain.decoding.attention import AttentionStyle
from constrain.decoding.model import LanguageModel
from constrain.vocabulary import Vocabulary

__all__ = ["EOS", "ToyTokenizer", "answering", "scripted_model", "toy_vocabulary"]

_PIECES = ('{"', '":', '": ', '",', '"}', '", "', "null", "true", "false", "ab", "abc", " the", "ü")
_PIECES += ("10", "20", "100", "approve", "deny", "escal", "ate", "}}", "[[", "]]", "日", "\n\n")
EOS = 256 + len(_PIECES)
_SPECIAL = EOS + 1  # a control token: never text
_SIZE = 300  # logits; ids behind the special one are padding

Script = Callable[[bytes], Mapping[int, float]]
"""The text so far -> logits of the tokens that are wished for; all others have 0."""


def toy_vocabulary() -> Vocabulary:
    """Return 256 single bytes, some longer tokens, an end token, a control token and padding."""
    tokens = [bytes([b]) for b in range(256)] + [piece.encode() for piece in _PIECES]
    return Vocabulary.of([*tokens, None, None], [EOS], size=_SIZE)


class ToyTokenizer:
    """Greedy longest-match over the toy vocabulary."""

    def __init__(self) -> None:
        self.tokens = toy_vocabulary().tokens
        self._ids = {text: i for i, text in enumerate(self.tokens) if text}
        self._longest = max(map(len, self._ids))

    def encode(self, text: str) -> list[int]:
        data, ids = text.encode(), []
        while data:
            length = next(n for n in range(self._longest, 0, -1) if data[:n] in self._ids)
            ids.append(self._ids[data[:length]])
            data = data[length:]
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(self.tokens[i] or b"" for i in ids).decode("utf-8", errors="replace")


class ScriptedModule(torch.nn.Module):
    """Called as a model of transformers is; `calls` holds the (rows, tokens) of every pass."""

    def __init__(self, script: Script, *, out_of_memory_over: int | None = None) -> None:
        super().__init__()
        self.calls: list[tuple[int, int]] = []
        self._script = script
        self._limit = out_of_memory_over
        self._tokens = toy_vocabulary().tokens

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        past_key_values: Any,
        logits_to_keep: int,
        **_: Any,
    ) -> SimpleNamespace:
        self.calls.append(tuple(input_ids.shape))
        states = torch.stack([input_ids, position_ids], -1)[:, None].float()  # (B, 1, q, 2)
        seen, _values = past_key_values.update(states, states, 0)
        if self._limit is not None and len(input_ids) > self._limit:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate a lot")
        rows = [
            [self._logits(row[0], mask) for mask in masks[0, -logits_to_keep:]]
            for row, masks in zip(seen, attention_mask, strict=True)
        ]
        return SimpleNamespace(logits=torch.stack([torch.stack(row) for row in rows]))

    def _logits(self, seen: Tensor, mask: Tensor) -> Tensor:
        entries = seen[mask].long().tolist()
        ordered = sorted(entries, key=lambda entry: entry[1])
        positions = [position for _, position in ordered]
        assert positions == list(range(len(ordered))), "a token is missing, or seen twice"
        text = b"".join(self._tokens[token] or b"" for token, _ in ordered)
        logits = torch.zeros(_SIZE)
        for token, logit in self._script(text).items():
            logits[token] = logit
        return logits


def scripted_model(
    script: Script, *, context_length: int = 4096, out_of_memory_over: int | None = None
) -> LanguageModel:
    """Return a model over the toy vocabulary that gives the logits `script` chooses."""
    return LanguageModel(
        name="scripted",
        module=ScriptedModule(script, out_of_memory_over=out_of_memory_over),
        tokenizer=ToyTokenizer(),  # type: ignore[arg-type]
        vocabulary=toy_vocabulary(),
        device=torch.device("cpu"),
        dtype=torch.float32,
        context_length=context_length,
        attention=AttentionStyle(),
    )


def answering(answers: Mapping[str, str], *, strength: float = 8.0) -> Script:
    """Return a script that wishes to write `answers[prompt]` byte by byte, then to end.

    Where the text has left the wished answer, nothing is preferred.
    """
    wanted = {prompt.encode(): answer.encode() for prompt, answer in answers.items()}

    def script(text: bytes) -> Mapping[int, float]:
        for prompt, answer in wanted.items():
            written = text.removeprefix(prompt)
            if text.startswith(prompt) and answer.startswith(written):
                following = answer[len(written) : len(written) + 1]
                return {following[0] if following else EOS: strength}
        return {}

    return script
