"""Limits: what one compile may cost. One frozen value, passed down, never global."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from constrain.errors import LimitExceeded

__all__ = ["Deadline", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one compile may cost; crossing a limit raises `LimitExceeded`.

    `states` counts automaton states over the whole constraint, `expression_size` nodes of the
    intermediate representation, `depth` nesting of schemas, groups and references,
    `seconds` wall time of one compile, `configurations` what the lazily determinised
    automaton may hold at one time before it starts afresh, `mask_bytes` what its masks may take.
    """

    states: int = 1_000_000
    expression_size: int = 2_000_000
    depth: int = 400
    seconds: float = 20.0
    configurations: int = 200_000
    mask_bytes: int = 512 * 1024 * 1024

    def deadline(self) -> Deadline:
        """Return a clock that starts now and ends after `seconds`."""
        return Deadline(self.seconds)

    def check(self, limit: str, given: float, *, place: str = "") -> None:
        """Raise `LimitExceeded` when `given` is over the field named `limit`."""
        allowed = getattr(self, limit)
        if given > allowed:
            raise LimitExceeded(limit, given=given, allowed=allowed, place=place)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A wall clock started at construction."""

    seconds: float
    started: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raise `LimitExceeded` once the time is over."""
        spent = time.monotonic() - self.started
        if spent > self.seconds:
            raise LimitExceeded("seconds", given=round(spent, 1), allowed=self.seconds)
