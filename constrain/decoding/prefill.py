"""Bring prompts into the cache, all but each row's last token.

Takes rows and slots, runs passes whose logits nobody needs. The prefix that prompts share is run
once and copied. Knows no constraint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from constrain.decoding.passes import RowTokens, forward

if TYPE_CHECKING:
    from constrain.decoding.cache import SlotCache, Snapshot
    from constrain.decoding.model import LanguageModel

__all__ = ["Prefillable", "SharedPrefix", "alike", "prefill"]

_CHUNK = 512  # tokens a row brings to one pass: bounds the memory of masks and activations
_PADDING = 1.25  # a pass may hold that many times the tokens it needs ...
_SMALL = 128  # ... and this many more: below, a pass costs the same anyway


class Prefillable(Protocol):
    """What is prefilled: tokens that are not in the cache yet, and how many are."""

    cached: int

    def pending(self) -> tuple[int, ...]:
        """Return the tokens behind the first `cached`."""


P = TypeVar("P", bound=Prefillable)


class SharedPrefix:
    """The tokens that all prompts begin with; their keys are computed on first use."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = tuple(tokens)
        self._snapshot: Snapshot | None = None

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self._tokens)

    def apply(self, model: LanguageModel, cache: SlotCache, slot: int, row: Prefillable) -> None:
        """Give a fresh row the keys of the part of the prefix its prompt begins with."""
        pending = row.pending()
        length = min(_common(self._tokens, pending), len(pending) - 1)
        if row.cached or not length:
            return
        if self._snapshot is None:
            _run(model, cache, slot, self._tokens)
            self._snapshot = cache.save(slot, len(self._tokens))
        else:
            cache.load(self._snapshot, slot)
        row.cached = length

    def forget(self) -> None:
        """Free the keys; they are computed again when needed."""
        self._snapshot = None


def prefill(
    model: LanguageModel, cache: SlotCache, rows: Sequence[tuple[int, Prefillable]], leave: int = 1
) -> None:
    """Run all pending tokens of `rows` (slot, row) but the last `leave`."""
    for group in alike(rows):
        while part := [(slot, row) for slot, row in group if len(row.pending()) > leave]:
            ahead = [(slot, row, row.pending()[:-leave][:_CHUNK]) for slot, row in part]
            forward(model, cache, [RowTokens(slot, row.cached, t) for slot, row, t in ahead])
            for _, row, tokens in ahead:
                row.cached += len(tokens)


def _run(model: LanguageModel, cache: SlotCache, slot: int, tokens: tuple[int, ...]) -> None:
    for start in range(0, len(tokens), _CHUNK):
        forward(model, cache, [RowTokens(slot, start, tokens[start : start + _CHUNK])])


def alike(rows: Sequence[tuple[int, P]]) -> Iterator[list[tuple[int, P]]]:
    """Yield rows to run together: so alike in length that padding costs little."""
    group: list[tuple[int, P]] = []
    needed = longest = 0
    for slot, row in sorted(rows, key=lambda pair: -len(pair[1].pending())):
        length = len(row.pending())
        padded = longest * (len(group) + 1)
        if group and padded > _PADDING * (needed + length) + _SMALL:
            yield group
            group, needed, longest = [], 0, 0
        group.append((slot, row))
        needed, longest = needed + length, max(longest, length)
    if group:
        yield group


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    for i, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return i
    return min(len(left), len(right))
