"""One forward pass over rows of unequal length.

Takes each row's new tokens and the column its slot has reached, gives logits. Rows are aligned on
the right, so the last column of the pass is every row's newest token. Knows no constraint and no
sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from constrain.decoding.cache import SlotCache
    from constrain.decoding.model import LanguageModel

__all__ = ["RowTokens", "Tree", "forward"]

_COLUMN_STEP = 32  # columns read grow in such steps, so that shapes repeat


@dataclass(frozen=True)
class RowTokens:
    """What one row brings to a pass: `tokens` go to slot `slot` from column `start` on."""

    slot: int
    start: int
    tokens: tuple[int, ...]

    @property
    def end(self) -> int:
        """The first column behind the row's tokens."""
        return self.start + len(self.tokens)


@dataclass(frozen=True, eq=False)
class Tree:
    """The last n tokens of every row form a forest that hangs on the token before them.

    `depth` (n,) int64, 1 for a root: how far its position is behind that token.
    `ancestors` (n, n) bool: `ancestors[i, j]` when node i sees node j; a node sees itself.
    """

    depth: Tensor
    ancestors: Tensor


def forward(
    model: LanguageModel,
    cache: SlotCache,
    rows: Sequence[RowTokens],
    *,
    keep: int = 1,
    tree: Tree | None = None,
) -> Tensor:
    """Run the model over `rows`; return logits (B, keep, V) of each row's last `keep` tokens.

    Keys and values of all tokens are in the cache afterwards. With `keep` over a row's own number
    of tokens the surplus rows of logits mean nothing.
    """
    tokens, columns = _packed(rows, cache.trash)
    used = min(_rounded(max(row.end for row in rows)), cache.room)
    tokens, columns = (t.to(model.device, non_blocking=True) for t in (tokens, columns))
    reach = torch.arange(used, device=model.device)
    visible = reach <= columns[:, :, None]  # (B, q, used)
    positions = columns.masked_fill(columns == cache.trash, 0)
    key_positions = reach[None]
    if tree is not None and len(tree.depth):
        positions, key_positions = _hang(tree, rows, visible, positions, key_positions)
    cache.aim([row.slot for row in rows], columns, used)
    return _call(model, cache, tokens, positions, visible, key_positions, keep)


def _packed(rows: Sequence[RowTokens], trash: int) -> tuple[Tensor, Tensor]:
    """Return tokens and columns, both (B, q) int64; padding stands on the left."""
    width = max(len(row.tokens) for row in rows)
    tokens = torch.zeros((len(rows), width), dtype=torch.int64)
    columns = torch.full((len(rows), width), trash, dtype=torch.int64)
    for i, row in enumerate(rows):
        first = width - len(row.tokens)
        tokens[i, first:] = torch.tensor(row.tokens, dtype=torch.int64)
        columns[i, first:] = torch.arange(row.start, row.end)
    return tokens, columns


def _rounded(columns: int) -> int:
    return -(-columns // _COLUMN_STEP) * _COLUMN_STEP


def _hang(
    tree: Tree, rows: Sequence[RowTokens], visible: Tensor, positions: Tensor, keys: Tensor
) -> tuple[Tensor, Tensor]:
    """Let the last n tokens of each row see their ancestors only (in `visible`); place them."""
    n = len(tree.depth)
    depth = tree.depth.to(visible.device)
    ancestors = tree.ancestors.to(visible.device)
    positions, keys = positions.clone(), keys.repeat(len(rows), 1)
    for i, row in enumerate(rows):
        root = row.end - n - 1  # the column, and position, of the token the forest hangs on
        visible[i, -n:, root + 1 : row.end] = ancestors
        positions[i, -n:] = root + depth
        keys[i, root + 1 : row.end] = root + depth
    return positions, keys


@torch.inference_mode()
def _call(
    model: LanguageModel,
    cache: SlotCache,
    tokens: Tensor,
    positions: Tensor,
    visible: Tensor,
    key_positions: Tensor,
    keep: int,
) -> Tensor:
    mask = model.attention.mask(visible, positions, key_positions, model.dtype)
    arguments: dict[str, object] = {model.cache_argument: cache}
    if model.keeps_logits:
        arguments["logits_to_keep"] = keep
    output = model.module(
        input_ids=tokens, attention_mask=mask, position_ids=positions, use_cache=True, **arguments
    )
    logits: Tensor = output.logits
    return logits[:, -keep:].float()
