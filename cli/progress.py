"""How a run shows that it goes on: a bar on a terminal, a line each 30 s elsewhere.

Observers of the pipelines that write to stderr. They know rates, not documents.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from cli.sizes import rate

if TYPE_CHECKING:
    from pipelines.observer import Observer

__all__ = ["BarObserver", "LineObserver", "Pace", "watching"]

SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def watching(*, output: str, quiet: bool) -> Iterator[Observer]:
    """Give the observer that fits stderr, for the time of a run.

    `output` is where records go: a bar makes way for records that go to the same terminal.
    """
    from pipelines.observer import NullObserver

    console = Console(stderr=True, highlight=False)
    if quiet:
        yield NullObserver()
    elif console.is_terminal:
        with BarObserver(console, gives_way=output == "-" and sys.stdout.isatty()) as bar:
            yield bar
    else:
        with LineObserver(console, SECONDS_BETWEEN_LINES) as lines:
            yield lines


class Pace:
    """Counts of a run and what they make a second, since documents flow."""

    def __init__(self) -> None:
        self.total: int | None = None
        self.documents = 0
        self.tokens = 0
        self._start = time.monotonic()

    def begin(self, total: int | None) -> None:
        """Start the clock."""
        self.total = total
        self._start = time.monotonic()

    def add(self, documents: int, tokens: int) -> None:
        """Count what has been done."""
        self.documents += documents
        self.tokens += tokens

    def rates(self) -> str:
        """Return "2.1 docs/s  96 tokens/s  0:12 left", as far as known."""
        seconds = max(time.monotonic() - self._start, 1e-9)
        if not self.documents:
            return ""
        parts = [f"{rate(self.documents, seconds)} docs/s"]
        if self.tokens:
            parts.append(f"{rate(self.tokens, seconds)} tokens/s")
        if self.total is not None:
            left = round((self.total - self.documents) * seconds / self.documents)
            parts.append(f"{left // 60}:{left % 60:02} left")
        return "  ".join(parts)


class BarObserver:
    """Draws a bar that vanishes at the end. With `gives_way`, at the first document."""

    def __init__(self, console: Console, *, gives_way: bool) -> None:
        self._gives_way = gives_way
        self._pace = Pace()
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rates]}", style="dim"),
            console=console,
            transient=True,
            redirect_stdout=False,
        )
        self._task = self._progress.add_task("starting", total=None, rates="")

    def __enter__(self) -> Self:
        """Start drawing."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the bar."""
        self._progress.stop()

    def stage(self, name: str) -> None:
        """Name what is going on."""
        self._progress.update(self._task, description=name)

    def started(self, total: int | None) -> None:
        """Begin to count documents."""
        self._pace.begin(total)
        self._progress.update(self._task, total=total, completed=0)
        if self._gives_way:
            self._progress.stop()

    def advanced(self, documents: int, tokens: int) -> None:
        """Move the bar."""
        self._pace.add(documents, tokens)
        self._progress.update(self._task, advance=documents, rates=self._pace.rates())

    def warned(self, message: str) -> None:
        """Write a warning above the bar."""
        self._progress.console.print(_warning(message), soft_wrap=True)


class LineObserver:
    """Writes a line now and then, from a thread of its own, so that a slow document shows too."""

    def __init__(self, console: Console, seconds: float) -> None:
        self._console = console
        self._seconds = seconds
        self._pace = Pace()
        self._stage = "starting"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        """Start the clock."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the clock."""
        self._ended.set()
        self._thread.join()

    def stage(self, name: str) -> None:
        """Remember what is going on, for the next line."""
        self._stage = name

    def started(self, total: int | None) -> None:
        """Begin to count documents."""
        self._pace.begin(total)

    def advanced(self, documents: int, tokens: int) -> None:
        """Count, silently."""
        self._pace.add(documents, tokens)

    def warned(self, message: str) -> None:
        """Write a warning."""
        self._console.print(_warning(message), soft_wrap=True)

    def line(self) -> str:
        """Return the line that tells how far the run is."""
        done, total = self._pace.documents, self._pace.total
        count = f"{done} of {total} documents" if total is not None else f"{done} documents"
        return "  ".join(part for part in (f"{self._stage}:", count, self._pace.rates()) if part)

    def _tick(self) -> None:
        while not self._ended.wait(self._seconds):
            self._console.print(self.line(), soft_wrap=True, markup=False)


def _warning(message: str) -> Text:
    return Text.assemble(("warning: ", "yellow"), message)
