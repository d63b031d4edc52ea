"""Runs a pipeline under a progress display, shows its summary, and ends with its exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeVar

import typer

from cli.errors import ExitCode

if TYPE_CHECKING:
    from pipelines.observer import Observer
    from pipelines.summary import RunSummary

    Config = TypeVar("Config")

__all__ = ["execute", "exit_code", "split_labels"]


def execute(
    run: Callable[[Config, Observer], RunSummary], config: Config, *, output: str, quiet: bool
) -> NoReturn:
    """Run a pipeline and raise `typer.Exit` with the code of its summary.

    `output` is the path of the records, "-" for stdout. With `quiet` only errors are shown; nothing
    is when the reader of stdout has left.
    """
    from cli.progress import watching
    from cli.tables import show_summary

    with watching(output=output, quiet=quiet) as observer:
        summary = run(config, observer)
    if not quiet and not summary.stopped_early:
        show_summary(summary)
    raise typer.Exit(exit_code(summary))


def exit_code(summary: RunSummary) -> ExitCode:
    """Return 3 when a document failed or is invalid, else 0."""
    return ExitCode.SOME_BAD if summary.error or summary.invalid else ExitCode.OK


def split_labels(choices: str | None) -> list[str] | None:
    """Split "a, b" into its labels; empty ones stay, to be refused."""
    return None if choices is None else [label.strip() for label in choices.split(",")]
