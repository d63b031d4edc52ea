"""What the mask argument looks like, and which models are refused."""

from __future__ import annotations

import pytest
import torch
from transformers import GptOssConfig, Llama4TextConfig, LlamaConfig, MambaConfig, T5Config

from constrain.decoding.attention import AttentionStyle, attention_style
from constrain.errors import ModelError

VISIBLE = torch.ones(4, 4, dtype=torch.bool).tril()[None]
PLACES = torch.arange(4)[None]


def test_sdpa_takes_a_boolean_mask_for_all_heads() -> None:
    mask = attention_style(LlamaConfig()).mask(VISIBLE, PLACES, PLACES, torch.float32)
    assert isinstance(mask, torch.Tensor)
    assert mask.shape == (1, 1, 4, 4)
    assert mask.dtype == torch.bool


def test_eager_attention_takes_a_mask_that_is_added() -> None:
    style = AttentionStyle(implementation="eager")
    mask = style.mask(VISIBLE, PLACES, PLACES, torch.bfloat16)
    assert isinstance(mask, torch.Tensor)
    assert mask.dtype == torch.bfloat16
    assert torch.equal(mask[0, 0] == 0, VISIBLE[0])


def test_a_window_hides_what_lies_that_far_back() -> None:
    style = AttentionStyle(window=2)
    mask = style.mask(VISIBLE, PLACES, PLACES, torch.float32)
    assert isinstance(mask, torch.Tensor)
    assert mask[0, 0].int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]


def test_mixed_layers_get_a_mask_for_each_kind() -> None:
    style = attention_style(GptOssConfig(sliding_window=2), supports_sdpa=False)
    masks = style.mask(VISIBLE, PLACES, PLACES, torch.float32)
    assert isinstance(masks, dict)
    assert masks.keys() == {"full_attention", "sliding_attention"}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (T5Config(), "encoder-decoder"),
        (Llama4TextConfig(), "chunked_attention"),
        (LlamaConfig(layer_types=["linear_attention"] * 32), "linear_attention"),
        (MambaConfig(), "linear_attention"),
    ],
)
def test_models_whose_state_cannot_be_rolled_back_are_refused(config, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        attention_style(config)
