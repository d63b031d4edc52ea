"""Sizes, ages and rates in words that people read."""

from __future__ import annotations

__all__ = ["age", "rate", "size"]


def size(count: int) -> str:
    """Return bytes as "812 B", "3.4 MB" (powers of 1000)."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def age(seconds: float) -> str:
    """Return a span of time as its largest unit: "5 min", "3 days"."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("min", 60)):
        count = int(seconds // length)
        if count:
            return f"{count} {unit}{'s' if count > 1 and unit != 'min' else ''}"
    return "now"


def rate(count: float, seconds: float) -> str:
    """Return how many of them there are in a second: "0.05", "2.1", "118"."""
    value = count / max(seconds, 1e-9)
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"
