"""How a model wants to be told what a token may see, read from its configuration.

Takes a configuration of transformers and boolean visibility, gives the mask argument of `forward`.
Models whose layers are not plain or sliding-window attention are refused here. Knows no weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from constrain.errors import ModelError

__all__ = ["AttentionStyle", "attention_style"]

_KNOWN_LAYERS = {"full_attention", "sliding_attention"}


@dataclass(frozen=True)
class AttentionStyle:
    """What masks look like for one model.

    `implementation` is the name transformers knows it by. `window`: how many tokens back a sliding
    layer sees, itself included; None when all layers see everything. `by_layer_type`: the model
    takes one mask for its full and one for its sliding layers.
    """

    implementation: Literal["sdpa", "eager"] = "sdpa"
    window: int | None = None
    by_layer_type: bool = False

    def mask(
        self, visible: Tensor, positions: Tensor, key_positions: Tensor, dtype: torch.dtype
    ) -> Tensor | dict[str, Tensor]:
        """Return the mask argument for `visible` (B, q, L) bool, True where a token may look.

        `positions` (B, q) and `key_positions` (B or 1, L) int64 place queries and keys in the text.
        """
        full = self._formed(visible, dtype)
        if self.window is None:
            return full
        near = positions[:, :, None] - key_positions[:, None, :] < self.window
        sliding = self._formed(visible & near, dtype)
        if not self.by_layer_type:
            return sliding
        return {"full_attention": full, "sliding_attention": sliding}

    def _formed(self, visible: Tensor, dtype: torch.dtype) -> Tensor:
        mask = visible[:, None]  # (B, 1, q, L): the same for all heads
        if self.implementation == "sdpa":
            return mask
        lowest = torch.finfo(dtype).min
        return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, lowest)


def attention_style(config: Any, *, supports_sdpa: bool = True) -> AttentionStyle:
    """Return the style of a model with this (text) configuration.

    Raises ModelError for models that are not decoder-only, and for layers with a state that cannot
    be rolled back (recurrent, linear or chunked attention).
    """
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(f"{config.model_type} is an encoder-decoder model; use a decoder-only one")
    layers = getattr(config, "layer_types", None)
    foreign = set(layers or ()) - _KNOWN_LAYERS
    if foreign or getattr(config, "attention_chunk_size", None):
        kinds = ", ".join(sorted(foreign)) or "chunked_attention"
        raise ModelError(
            f"{config.model_type} has layers of kind {kinds}, which cannot be rolled back; "
            "use a model with full or sliding-window attention only"
        )
    capped = getattr(config, "attn_logit_softcapping", None) is not None
    return AttentionStyle(
        implementation="sdpa" if supports_sdpa and not capped else "eager",
        window=_window(config, layers),
        by_layer_type=bool(layers),
    )


def _window(config: Any, layers: list[str] | None) -> int | None:
    window = getattr(config, "sliding_window", None)
    if layers:
        return window if "sliding_attention" in layers else None
    if getattr(config, "use_sliding_window", True) is False:
        return None
    return window
