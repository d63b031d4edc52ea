"""The labels of a classification: read, made into tokens, and their scores into probabilities.

A label's score is its log-probability after the document, minus (when calibrated) that after an
empty document: what the model would say anyway counts for nothing. Knows no documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.config import ConstraintConfig, LabelsConfig
from pipelines.errors import ConfigError

__all__ = ["Verdict", "judge", "label_tokens", "load_labels"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The likeliest label, and a probability for each in the order given; they sum to 1."""

    label: str
    probabilities: tuple[float, ...]
    runner_up: str | None
    margin: float


def load_labels(config: LabelsConfig | ConstraintConfig) -> tuple[str, ...]:
    """Return the labels; raise `ConfigError` for a file that holds none, or one twice."""
    if config.choices is not None:
        return config.choices
    path = str(config.choices_file)
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise ConfigError(f"the labels cannot be read ({error.strerror})", place=path) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"byte {error.start} is not UTF-8", place=path) from None
    seen: dict[str, int] = {}
    for number, label in enumerate((line.strip() for line in lines), start=1):
        if label in seen:
            fact = f"the label {label!r} comes twice: lines {seen[label]} and {number}"
            raise ConfigError(fact, place=path)
        if label:
            seen[label] = number
    if not seen:
        raise ConfigError("the file holds no labels", place=path, remedy="write one a line")
    return tuple(seen)


def label_tokens(
    labels: Sequence[str], encode: Callable[[str], list[int]], end: int
) -> tuple[tuple[int, ...], ...]:
    """Return the token ids of each label.

    Where one label's ids begin another's ("card", "card lost"), all get the end token `end`, so
    that the shorter one is not the likelier by its length alone.
    """
    ids = [tuple(encode(label)) for label in labels]
    nested = any(a != b and b[: len(a)] == a for a in ids for b in ids)
    return tuple((*label, end) if nested else label for label in ids)


def judge(labels: Sequence[str], scores: Sequence[float], baseline: Sequence[float]) -> Verdict:
    """Return the verdict of scores (natural logs) over a baseline."""
    corrected = [score - base for score, base in zip(scores, baseline, strict=True)]
    top = max(corrected)
    weights = [math.exp(score - top) for score in corrected]
    total = sum(weights)
    probabilities = tuple(weight / total for weight in weights)
    order = sorted(range(len(labels)), key=lambda i: (-probabilities[i], i))
    if len(order) == 1:
        return Verdict(labels[0], probabilities, None, 1.0)
    margin = probabilities[order[0]] - probabilities[order[1]]
    return Verdict(labels[order[0]], probabilities, labels[order[1]], margin)
