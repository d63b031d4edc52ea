"""Pick one token a row from masked logits, greedily or at random.

Takes logits and packed masks on the model's device, gives token ids, log-probabilities and mask
pressures on the host in one transfer. Randomness comes in as one uniform number a row, so that a
row's text depends on its own generator alone, never on its neighbours. Knows no constraint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from constrain.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from constrain.decoding.options import DecodeOptions

__all__ = ["Pick", "expand", "pick"]


@dataclass(frozen=True, slots=True)
class Pick:
    """One row's token. `logprob` (nats) and `pressure` (0 to 1) as in `Generation`."""

    token: int
    logprob: float
    pressure: float


@torch.inference_mode()
def pick(
    logits: Tensor,
    bitmask: NDArray[np.int32],
    uniforms: Sequence[float],
    options: DecodeOptions,
) -> list[Pick]:
    """Pick a token for each row of `logits` (B, V) float32 under `bitmask` (B, words) int32.

    Every row must allow a token. `uniforms` (B,) in [0, 1) decide; they are not looked at when
    `options.temperature` is 0. Raises ModelError when the model gives no numbers.
    """
    allowed = expand(
        torch.from_numpy(bitmask).to(logits.device, non_blocking=True), logits.shape[1]
    )
    masked = logits.masked_fill(~allowed, -torch.inf)
    total, kept = logits.logsumexp(-1), masked.logsumexp(-1)
    tokens = _choose(masked, uniforms, options)
    logprobs = masked.gather(1, tokens[:, None])[:, 0] - kept
    pressures = 1 - (kept - total).exp()
    # One transfer; ids are exact in float32 up to 16 million.
    rows = torch.stack([tokens.float(), logprobs, pressures], 1).cpu().tolist()
    if any(math.isnan(logprob) for _, logprob, _ in rows):
        raise ModelError(
            "the model returned logits that are no numbers (NaN); try --dtype float32, "
            "or check that its weights are whole"
        )
    return [Pick(int(t), logprob, min(1.0, max(0.0, p))) for t, logprob, p in rows]


def expand(bitmask: Tensor, width: int) -> Tensor:
    """Unpack (B, words) int32 to (B, width) bool; ids beyond the mask's bits are not allowed."""
    shifts = torch.arange(32, device=bitmask.device, dtype=torch.int32)
    bits = ((bitmask[:, :, None] >> shifts) & 1).bool().flatten(1)
    missing = width - bits.shape[1]
    return torch.nn.functional.pad(bits, (0, missing)) if missing > 0 else bits[:, :width]


def _choose(masked: Tensor, uniforms: Sequence[float], options: DecodeOptions) -> Tensor:
    if options.temperature == 0:
        return masked.argmax(-1)
    probabilities = _filtered((masked / options.temperature).softmax(-1), options)
    cumulative = probabilities.cumsum(-1)
    drawn = torch.tensor(list(uniforms), dtype=torch.float32).to(masked.device, non_blocking=True)
    at = torch.searchsorted(cumulative, drawn[:, None] * cumulative[:, -1:], right=True)
    best = masked.argmax(-1)  # for a draw that rounding puts behind the last token
    at = torch.where(at < masked.shape[1], at, best[:, None])[:, 0]
    return torch.where(probabilities.gather(1, at[:, None])[:, 0] > 0, at, best)


def _filtered(probabilities: Tensor, options: DecodeOptions) -> Tensor:
    """Set to zero what min-p, top-k and top-p leave out; the best token always stays."""
    if options.min_p > 0:
        floor = probabilities.amax(-1, keepdim=True) * options.min_p
        probabilities = probabilities.masked_fill(probabilities < floor, 0)
    if 0 < options.top_k < probabilities.shape[1]:
        least = probabilities.topk(options.top_k, -1).values[:, -1:]
        probabilities = probabilities.masked_fill(probabilities < least, 0)
    if options.top_p < 1:
        ordered, index = probabilities.sort(-1, descending=True)
        before = ordered.cumsum(-1) - ordered
        share = options.top_p * ordered.sum(-1, keepdim=True)
        outside = torch.zeros_like(before, dtype=torch.bool).scatter(1, index, before >= share)
        probabilities = probabilities.masked_fill(outside, 0)
    return probabilities
