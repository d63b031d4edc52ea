"""The ragged slot cache: keys and values of many rows, each with its own length.

A slot is one row of fixed room. A pass says which slots its rows are and into which column each
token goes; keys and values are scattered there, and whoever made the pass hides every column a
token must not see. So rolling back, or giving a slot to the next document, is only a smaller
number on the caller's side: nothing is erased. Knows no lengths, no tokens and no positions.

One column more than asked for is kept behind the last: padding is written there and never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

__all__ = ["SlotCache", "Snapshot"]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The first `length` columns of a slot, layer by layer: keys and values (H, length, D)."""

    length: int
    layers: tuple[tuple[Tensor, Tensor], ...]


@dataclass(eq=False)
class _Target:
    """Where the pass that runs now reads and writes; shared by all layers.

    `slots` (B,) int64, `columns` (B, q) int64, `used`: the columns that are read, from 0.
    `rows` is `slots` as a slice when they are consecutive, so that reading copies nothing.
    """

    slots: Tensor
    columns: Tensor
    rows: slice | Tensor
    used: int


class _SlotLayer(CacheLayerMixin):  # type: ignore[misc]
    """Keys and values of one layer, (slots, H, room + 1, D); made when the first keys arrive."""

    is_sliding = False

    def __init__(self, cache: SlotCache) -> None:
        super().__init__()
        self._cache = cache

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.keys = self._empty(key_states)
        self.values = self._empty(value_states)
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *_args: Any, **_kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Scatter (B, H, q, D) to the target's columns; return (B, H, used, D) of its slots."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        return self._write(self.keys, key_states), self._write(self.values, value_states)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self._cache.target.used, 0

    def get_seq_length(self) -> int:
        return self._cache.target.used

    def get_max_length(self) -> int:
        return self._cache.room

    def resize(self, slots: int, room: int) -> None:
        """Keep what fits of the old content."""
        if self.is_initialized:
            self.keys = _resized(self.keys, slots, room + 1)
            self.values = _resized(self.values, slots, room + 1)

    def _empty(self, states: Tensor) -> Tensor:
        _, heads, _, width = states.shape
        return states.new_zeros((self._cache.slots, heads, self._cache.room + 1, width))

    def _write(self, stored: Tensor, states: Tensor) -> Tensor:
        target = self._cache.target
        device = stored.device  # layers may be spread over several devices
        slots, columns = target.slots.to(device), target.columns.to(device)
        stored[slots[:, None], :, columns] = states.transpose(1, 2)  # (B, q, H, D)
        rows = target.rows if isinstance(target.rows, slice) else slots
        return stored[rows, :, : target.used]


class SlotCache(Cache):  # type: ignore[misc]
    """Room for `slots` rows of up to `room` tokens each, in every layer of a model."""

    def __init__(self, slots: int, room: int) -> None:
        super().__init__(layers=[])
        self.slots = slots
        self.room = room
        nowhere = torch.zeros(0, dtype=torch.int64)
        self.target = _Target(nowhere, nowhere, slice(0, 0), 0)

    @property
    def trash(self) -> int:
        """The column that padding is written to."""
        return self.room

    def aim(self, slots: Sequence[int], columns: Tensor, used: int) -> None:
        """Say where the next pass reads and writes.

        `columns` (B, q) int64 on the model's device; row i belongs to `slots[i]`; the pass sees
        columns 0 to `used` - 1.
        """
        index = torch.tensor(slots, dtype=torch.int64).to(columns.device, non_blocking=True)
        first = slots[0]
        consecutive = list(slots) == list(range(first, first + len(slots)))
        rows = slice(first, first + len(slots)) if consecutive else index
        self.target = _Target(index, columns, rows, used)

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Add layers as the model first uses them, then write and read."""
        while len(self.layers) <= layer_idx:
            self.layers.append(_SlotLayer(self))
        found: tuple[Tensor, Tensor] = self.layers[layer_idx].update(key_states, value_states)
        return found

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return what the pass sees; models ask, but positions and masks are given to them."""
        return self.target.used

    @torch.inference_mode()
    def move(self, source: int, target: int, length: int) -> None:
        """Copy the first `length` columns of slot `source` to slot `target`."""
        for layer in self._filled():
            layer.keys[target, :, :length] = layer.keys[source, :, :length]
            layer.values[target, :, :length] = layer.values[source, :, :length]

    @torch.inference_mode()
    def save(self, slot: int, length: int) -> Snapshot:
        """Return a copy of the first `length` columns of `slot`."""
        kept = tuple(
            (layer.keys[slot, :, :length].clone(), layer.values[slot, :, :length].clone())
            for layer in self._filled()
        )
        return Snapshot(length, kept)

    @torch.inference_mode()
    def load(self, snapshot: Snapshot, slot: int) -> None:
        """Write a snapshot into the first columns of `slot`."""
        while len(self.layers) < len(snapshot.layers):
            self.layers.append(_SlotLayer(self))
        for layer, (keys, values) in zip(self.layers, snapshot.layers, strict=True):
            if not layer.is_initialized:
                layer.lazy_initialization(keys[None], values[None])
            layer.keys[slot, :, : snapshot.length] = keys
            layer.values[slot, :, : snapshot.length] = values

    @torch.inference_mode()
    def resize(self, slots: int, room: int) -> None:
        """Change the number of slots and their room; content that fits is kept."""
        self.slots, self.room = slots, room
        for layer in self.layers:
            layer.resize(slots, room)

    def _filled(self) -> list[_SlotLayer]:
        return [layer for layer in self.layers if layer.is_initialized]


def _resized(old: Tensor, slots: int, columns: int) -> Tensor:
    _, heads, _, width = old.shape
    new = old.new_zeros((slots, heads, columns, width))
    kept_slots, kept_columns = min(slots, old.shape[0]), min(columns, old.shape[2])
    new[:kept_slots, :, :kept_columns] = old[:kept_slots, :, :kept_columns]
    return new
