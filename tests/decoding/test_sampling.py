"""Picking tokens: masks, filters, and the distribution that is drawn from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from constrain.bitmask import allocate
from constrain.decoding.options import DecodeOptions
from constrain.decoding.sampling import Pick, expand, pick


def mask_of(allowed: list[list[int]], size: int) -> np.ndarray:
    mask = allocate(len(allowed), size)
    for row, ids in zip(mask, allowed, strict=True):
        for i in ids:
            row[i >> 5] |= np.uint32(1 << (i & 31)).astype(np.int32)
    return mask


def shares(logits: list[float], allowed: list[int], **options) -> dict[int, float]:
    """Draw evenly spaced numbers; return how often each token comes."""
    n = 2000
    many = torch.tensor([logits]).repeat(n, 1)
    mask = mask_of([allowed], len(logits)).repeat(n, 0)
    uniforms = [(i + 0.5) / n for i in range(n)]
    picks = pick(many, mask, uniforms, DecodeOptions(**{"temperature": 1.0, **options}))
    tokens, counts = np.unique([p.token for p in picks], return_counts=True)
    return dict(zip(tokens.tolist(), (counts / n).tolist(), strict=True))


def test_every_bit_is_unpacked_to_its_token() -> None:
    ids = [0, 1, 30, 31, 32, 63, 64, 69]
    found = expand(torch.from_numpy(mask_of([ids], 70)), 70)
    assert found[0].nonzero().flatten().tolist() == ids


@pytest.mark.parametrize("width", [70, 96, 100])
def test_logits_wider_than_the_mask_are_not_allowed(width: int) -> None:
    found = expand(torch.from_numpy(mask_of([[3]], 70)), width)
    assert found.shape == (1, width)
    assert found.sum() == 1


def test_greedy_takes_the_best_allowed_token_of_each_row() -> None:
    logits = torch.tensor([[5.0, 1.0, 2.0], [0.0, 9.0, 8.0]])
    picks = pick(logits, mask_of([[1, 2], [0, 2]], 3), (), DecodeOptions())
    assert [p.token for p in picks] == [2, 2]


def test_logprob_and_pressure_are_of_the_unfiltered_distribution_at_temperature_1() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0]])
    options = DecodeOptions(temperature=0.01, top_k=1)
    [found] = pick(logits, mask_of([[1, 2]], 3), [0.5], options)
    p = logits[0].softmax(0)
    assert found.token == 1
    assert found.logprob == pytest.approx((p[1] / (p[1] + p[2])).log().item(), abs=1e-6)
    assert found.pressure == pytest.approx(p[0].item(), abs=1e-6)


def test_a_token_that_is_the_only_one_allowed_is_certain() -> None:
    [found] = pick(torch.tensor([[9.0, 0.0]]), mask_of([[1]], 2), (), DecodeOptions())
    assert found == Pick(1, pytest.approx(0.0, abs=1e-6), pytest.approx(1.0, abs=1e-3))


def test_draws_follow_the_masked_distribution() -> None:
    logits = [1.0, 3.0, 0.0, 2.0, -1.0]
    allowed = [0, 2, 3]
    p = torch.tensor(logits)[allowed].softmax(0).tolist()
    assert shares(logits, allowed) == pytest.approx(dict(zip(allowed, p, strict=True)), abs=1e-3)


def test_temperature_sharpens_and_flattens() -> None:
    logits = [1.0, 0.0]
    sharp, flat = (shares(logits, [0, 1], temperature=t)[0] for t in (0.25, 4.0))
    assert sharp == pytest.approx(1 / (1 + np.exp(-4)), abs=1e-3)
    assert flat == pytest.approx(1 / (1 + np.exp(-0.25)), abs=1e-3)


def test_top_k_keeps_the_k_best_allowed_tokens() -> None:
    assert shares([5.0, 1.0, 3.0, 2.0], [1, 2, 3], top_k=2).keys() == {2, 3}


def test_top_p_keeps_the_fewest_tokens_that_reach_p() -> None:
    logits = np.log([0.5, 0.3, 0.15, 0.05]).tolist()
    everything = [0, 1, 2, 3]
    assert shares(logits, everything, top_p=0.5).keys() == {0}
    assert shares(logits, everything, top_p=0.6).keys() == {0, 1}
    assert shares(logits, everything, top_p=0.81).keys() == {0, 1, 2}


def test_min_p_drops_tokens_far_below_the_best_allowed() -> None:
    logits = np.log([0.5, 0.3, 0.15, 0.05]).tolist()
    assert shares(logits, [1, 2, 3], min_p=0.4).keys() == {1, 2}


@pytest.mark.parametrize("uniform", [0.0, 0.9999999999])
def test_the_ends_of_the_unit_interval_draw_an_allowed_token(uniform: float) -> None:
    logits = torch.tensor([[0.0] * 7])
    [found] = pick(logits, mask_of([[2, 4]], 7), [uniform], DecodeOptions(temperature=1.0))
    assert found.token in {2, 4}
