"""Ragged passes on tiny models of many architectures give what a plain call gives."""

from __future__ import annotations

import pytest
import torch

from constrain.decoding.cache import SlotCache
from constrain.decoding.passes import RowTokens, Tree, forward
from tests.decoding.models import ARCHITECTURES, plain_logits, tiny_model

A = tuple(range(40, 63))
B = tuple(range(100, 105))
C = tuple(range(10, 22))


def close(left: torch.Tensor, right: torch.Tensor) -> bool:
    return torch.allclose(left, right, atol=1e-4, rtol=1e-4)


@pytest.fixture(params=ARCHITECTURES)
def model(request: pytest.FixtureRequest):
    return tiny_model(request.param)


def test_rows_of_unequal_length_give_their_own_logits(model) -> None:
    cache = SlotCache(3, 64)
    rows = [RowTokens(i, 0, tokens) for i, tokens in enumerate((A, B, C))]
    logits = forward(model, cache, rows)[:, -1]
    for row, found in zip((A, B, C), logits, strict=True):
        assert close(found, plain_logits(model, row)[-1])


def test_a_row_goes_on_where_its_slot_stands(model) -> None:
    cache = SlotCache(2, 64)
    forward(model, cache, [RowTokens(0, 0, A[:9]), RowTokens(1, 0, B[:2])])
    both = [RowTokens(0, 9, A[9:]), RowTokens(1, 2, B[2:])]
    logits = forward(model, cache, both, keep=3)
    assert close(logits[0], plain_logits(model, A)[-3:])
    assert close(logits[1], plain_logits(model, B)[-3:])


def test_rolling_back_is_writing_again_further_left(model) -> None:
    cache = SlotCache(1, 64)
    forward(model, cache, [RowTokens(0, 0, A)])
    logits = forward(model, cache, [RowTokens(0, 5, C)])
    assert close(logits[0, -1], plain_logits(model, (*A[:5], *C))[-1])


def test_slots_need_not_be_neighbours_nor_in_order(model) -> None:
    cache = SlotCache(4, 64)
    forward(model, cache, [RowTokens(3, 0, A[:-1]), RowTokens(1, 0, C[:-1])])
    last = [RowTokens(1, len(C) - 1, C[-1:]), RowTokens(3, len(A) - 1, A[-1:])]
    logits = forward(model, cache, last)
    assert close(logits[0, -1], plain_logits(model, C)[-1])
    assert close(logits[1, -1], plain_logits(model, A)[-1])


def test_moved_saved_and_resized_slots_keep_their_content(model) -> None:
    cache = SlotCache(2, 32)
    forward(model, cache, [RowTokens(1, 0, A[:-1])])
    snapshot = cache.save(1, 10)
    cache.move(1, 0, len(A) - 1)
    cache.resize(3, 96)
    cache.load(snapshot, 2)
    rows = [RowTokens(0, len(A) - 1, A[-1:]), RowTokens(2, 10, A[10:])]
    for found in forward(model, cache, rows):
        assert close(found[-1], plain_logits(model, A)[-1])


def test_branches_of_a_tree_see_their_own_ancestors_only(model) -> None:
    cache = SlotCache(2, 96)
    # 70 -> 71 -> 72, and 70 -> 80, and 90: depths 1, 2, 3, 2, 1
    nodes = (70, 71, 72, 80, 90)
    paths = [(70,), (70, 71), (70, 71, 72), (70, 80), (90,)]
    ancestors = torch.zeros((5, 5), dtype=torch.bool)
    for i, seen in enumerate([(0,), (0, 1), (0, 1, 2), (0, 3), (4,)]):
        ancestors[i, list(seen)] = True
    tree = Tree(torch.tensor([1, 2, 3, 2, 1]), ancestors)
    rows = [RowTokens(0, 0, (*A, *nodes)), RowTokens(1, 0, (*B, *nodes))]
    logits = forward(model, cache, rows, keep=6, tree=tree)
    for prompt, found in zip((A, B), logits, strict=True):
        assert close(found[0], plain_logits(model, prompt)[-1])
        for path, at in zip(paths, found[1:], strict=True):
            assert close(at, plain_logits(model, (*prompt, *path))[-1])
