"""Token figures of a generated JSON text -> figures of its fields.

A field's log-probability is the mean over the tokens that touch its value; array elements count
under one name (`authors[]`). Knows no tokenizer, only how many bytes each token is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pipelines.fields import field_name
from pipelines.spans import value_spans

__all__ = ["Confidence", "field_confidence"]


@dataclass(frozen=True, slots=True)
class Confidence:
    """Mean log-probability (natural, at most 0) a token, and mean mask pressure (0 to 1)."""

    logprob: float
    pressure: float


def field_confidence(
    data: bytes,
    token_lengths: Sequence[int],
    logprobs: Sequence[float],
    pressures: Sequence[float],
) -> Mapping[str, Confidence]:
    """Return the confidence of each field of the JSON text `data`, by dotted name.

    `token_lengths[i]` bytes of `data`, from its start on, are token i's.
    """
    ends = list(accumulate(token_lengths))
    starts = [0, *ends[:-1]]
    touched: dict[str, list[int]] = defaultdict(list)
    for span in value_spans(data):
        if span.path:
            first = bisect_right(ends, span.start)
            last = bisect_left(starts, span.end)
            touched[field_name(span.path)].extend(range(first, last))
    return {
        name: Confidence(_mean(logprobs, indices), _mean(pressures, indices))
        for name, indices in touched.items()
        if indices
    }


def _mean(figures: Sequence[float], indices: Sequence[int]) -> float:
    return sum(figures[i] for i in indices) / len(indices)
