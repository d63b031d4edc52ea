"""Tiny random models of several architectures, so that numerics are tested in a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    Phi3Config,
    Qwen2Config,
    Qwen3Config,
)

from constrain.decoding.model import LanguageModel, language_model
from tests.fakes import EOS, ToyTokenizer, toy_vocabulary

__all__ = ["ARCHITECTURES", "plain_logits", "tiny_model"]

_COMMON: dict[str, Any] = {
    "vocab_size": toy_vocabulary().size,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 512,
    "bos_token_id": None,
    "eos_token_id": EOS,
    "pad_token_id": None,
}
_WINDOW = 7  # shorter than the tests' prompts

ARCHITECTURES = {
    "llama": LlamaConfig(**_COMMON),
    "qwen2": Qwen2Config(**_COMMON),
    "qwen3": Qwen3Config(**_COMMON),
    "gpt2": GPT2Config(
        vocab_size=_COMMON["vocab_size"], n_embd=32, n_layer=2, n_head=4, n_positions=512,
        bos_token_id=None, eos_token_id=EOS,
    ),
    "mistral, sliding": MistralConfig(**_COMMON, sliding_window=_WINDOW),
    "phi3, sliding": Phi3Config(**_COMMON, sliding_window=_WINDOW),
    "gemma2, sliding and capped": Gemma2Config(**_COMMON, sliding_window=_WINDOW),
    "gemma3, mixed": Gemma3TextConfig(
        **_COMMON, sliding_window=_WINDOW, layer_types=["sliding_attention", "full_attention"]
    ),
    "qwen2, mixed": Qwen2Config(
        **_COMMON, sliding_window=_WINDOW, use_sliding_window=True, max_window_layers=1
    ),
}  # fmt: skip


class _ToyTextTokenizer(ToyTokenizer):
    def vocabulary(self, *, size: int, eos_ids: set[int]) -> Any:
        assert size == toy_vocabulary().size
        assert eos_ids == {EOS}
        return toy_vocabulary()


def tiny_model(name: str = "llama") -> LanguageModel:
    """Return a model with random weights over the toy vocabulary, the same ones every time."""
    torch.manual_seed(7)
    module = AutoModelForCausalLM.from_config(ARCHITECTURES[name])
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:  # sharper than the default, so that texts differ
                parameter.mul_(6)
    return language_model(name, module, _ToyTextTokenizer())  # type: ignore[arg-type]


def plain_logits(model: LanguageModel, ids: Sequence[int]) -> torch.Tensor:
    """Return (len(ids), V) logits of a plain call, without a cache."""
    with torch.inference_mode():
        logits: torch.Tensor = model.module(torch.tensor([list(ids)]), use_cache=False).logits
    return logits[0].float()
