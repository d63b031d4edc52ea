"""Compare records with golden ones: field by field, as the golden sets' README says.

Strings are compared without case and punctuation, numbers to 2 decimals, lists as sets. Takes plain
values, gives counts. Knows no files and no model.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["FieldCounts", "accuracy", "count_fields", "majority", "micro", "same"]


@dataclass(frozen=True)
class FieldCounts:
    """How often a field was right, wrongly given, and missed; a wrong value is both."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __add__(self, other: FieldCounts) -> FieldCounts:
        """Add up."""
        return FieldCounts(
            self.right + other.right, self.wrong + other.wrong, self.missed + other.missed
        )

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 when there was nothing to find."""
        total = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / total if total else 1.0


def count_fields(
    found: Mapping[str, Any] | None, golden: Mapping[str, Any], alt: Mapping[str, Sequence[Any]]
) -> dict[str, FieldCounts]:
    """Count each golden field; `found` is None for a document without a record.

    `alt` holds other accepted values by field. Nulls that agree count for nothing.
    """
    counted = {}
    for name, wanted in golden.items():
        given = (found or {}).get(name)
        right = any(same(given, value) for value in [wanted, *alt.get(name, ())])
        counted[name] = FieldCounts(
            right=int(right and given is not None),
            wrong=int(not right and given is not None),
            missed=int(not right and wanted is not None),
        )
    return counted


def micro(
    counted: Iterable[Mapping[str, FieldCounts]],
) -> tuple[FieldCounts, dict[str, FieldCounts]]:
    """Sum over documents: of all fields together, and of each."""
    fields: dict[str, FieldCounts] = {}
    for document in counted:
        for name, counts in document.items():
            fields[name] = fields.get(name, FieldCounts()) + counts
    return sum(fields.values(), FieldCounts()), fields


def accuracy(found: Sequence[Any], golden: Sequence[Any]) -> float:
    """Return the share of values that are the same."""
    pairs = [same(a, b) for a, b in zip(found, golden, strict=True)]
    return sum(pairs) / len(pairs)


def majority(golden: Sequence[str]) -> float:
    """Return the accuracy of always saying the most frequent label."""
    return Counter(golden).most_common(1)[0][1] / len(golden)


def same(left: Any, right: Any) -> bool:
    """Return whether two values agree by the golden sets' rules."""
    return bool(_normal(left) == _normal(right))


def _normal(value: Any) -> Any:
    if isinstance(value, str):
        folded = unicodedata.normalize("NFKC", value).casefold()
        return re.sub(r"[\W_]+", "", folded)
    if isinstance(value, bool) or value is None:
        return repr(value)  # True is no 1
    if isinstance(value, int | float):
        return round(float(value), 2)
    if isinstance(value, list):
        return frozenset(map(repr, map(_normal, value)))
    return {key: _normal(item) for key, item in value.items()}
