"""Slots: the rows that run now, and the cache they live in.

Running rows always fill the first slots, row i in slot i, so that a pass reads the cache without a
copy; a row that ends leaves its slot to the last one. Knows no sampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from constrain.decoding.cache import SlotCache
from constrain.decoding.memory import free
from constrain.decoding.passes import RowTokens, forward
from constrain.decoding.prefill import SharedPrefix, prefill
from constrain.errors import ModelError

if TYPE_CHECKING:
    from torch import Tensor

    from constrain.decoding.model import LanguageModel
    from constrain.decoding.rows import Row, Waiting

__all__ = ["Slots"]

_ROOM_STEP = 64  # columns; a cache grows in such steps


class Slots:
    """Up to `capacity` rows under way on `model`, their prompts beginning with `prefix`."""

    def __init__(self, model: LanguageModel, capacity: int, prefix: Sequence[int]) -> None:
        self.rows: list[Row] = []
        self.capacity = capacity
        self._model = model
        self._prefix = SharedPrefix(prefix)
        self._cache: SlotCache | None = None

    def refill(self, waiting: Waiting) -> None:
        """Give every free slot the next row, and bring its prompt into the cache."""
        while len(self.rows) < self.capacity and (row := waiting.take()):
            self.rows.append(row)
        fresh = [(i, row) for i, row in enumerate(self.rows) if not row.cached and not row.stop]
        if not fresh:
            return
        room = max([len(self._prefix), waiting.room(), *(row.room for row in self.rows)])
        cache = self._roomy_cache(room)
        for slot, row in fresh:
            self._prefix.apply(self._model, cache, slot, row)
        prefill(self._model, cache, fresh)

    def forward(self) -> Tensor:
        """Run every row's pending tokens; return logits (B, V) for what follows."""
        pending = [row.pending() for row in self.rows]
        brought = [
            RowTokens(i, row.cached, tokens)
            for i, (row, tokens) in enumerate(zip(self.rows, pending, strict=True))
        ]
        logits = forward(self._model, self._roomy_cache(0), brought)
        for row, tokens in zip(self.rows, pending, strict=True):
            row.cached += len(tokens)
        return logits[:, -1]

    def ended(self) -> Iterator[Row]:
        """Take out the rows that have ended; later rows move up into their slots."""
        for slot in reversed(range(len(self.rows))):
            if self.rows[slot].stop is None:
                continue
            row, last = self.rows[slot], self.rows.pop()
            if last is not row:
                self.rows[slot] = last
                self._roomy_cache(0).move(len(self.rows), slot, last.cached)
            yield row

    def halve(self, waiting: Waiting) -> None:
        """Free all memory, halve the capacity and let the rows queue again.

        Raises ModelError when there is only one slot left.
        """
        if self.capacity == 1:
            raise ModelError(
                f"{self._model.device} has too little memory for one document; "
                "lower max_new_tokens, cut the documents, or use a smaller model"
            )
        waiting.put_back(self.rows)
        self.rows = []
        self.capacity //= 2
        self._cache = None
        self._prefix.forget()
        free()

    def _roomy_cache(self, room: int) -> SlotCache:
        """Return the cache, with room for `room` columns a slot."""
        columns = -(-room // _ROOM_STEP) * _ROOM_STEP
        if self._cache is None:
            self._cache = SlotCache(self.capacity, columns)
        elif columns > self._cache.room:
            self._cache.resize(self.capacity, columns)
        return self._cache
