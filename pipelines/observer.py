"""How a run tells others about its progress: an interface, and the one that says nothing.

The run calls; it never asks. Knows no terminal and no clock.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["NullObserver", "Observer"]


class Observer(Protocol):
    """Told about a run as it goes on. Every method returns at once and raises nothing."""

    def stage(self, name: str) -> None:
        """Hear that the run entered a stage ("reading inputs", "loading model", ...)."""

    def started(self, total: int | None) -> None:
        """Hear that documents now flow: `total` of them, or None when nobody can know."""

    def advanced(self, documents: int, tokens: int) -> None:
        """Hear that so many more records were written and so many more tokens generated."""

    def warned(self, message: str) -> None:
        """Hear a sentence that the user should see."""


class NullObserver:
    """Listens to nothing."""

    def stage(self, name: str) -> None:
        """Do nothing."""

    def started(self, total: int | None) -> None:
        """Do nothing."""

    def advanced(self, documents: int, tokens: int) -> None:
        """Do nothing."""

    def warned(self, message: str) -> None:
        """Do nothing."""
