"""What a finished run reports: counts, tokens, warnings, and the per-field statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipelines.tally import FieldStats

__all__ = ["RunSummary"]


@dataclass(frozen=True)
class RunSummary:
    """The figures of one run.

    `documents` = `ok` + `invalid` + `error` records written. `tokens` were generated (classify: 0),
    `prompt_tokens` read. `fields` in schema order, dotted names. `stopped_early`: the reader of
    stdout left (quiet, not a failure). `stats_path`: the file written beside the output, or None.
    `first_errors`: the first few, as "id: reason".
    """

    documents: int
    ok: int
    invalid: int
    error: int
    tokens: int
    prompt_tokens: int
    seconds: float
    fields: tuple[FieldStats, ...] = ()
    warnings: tuple[str, ...] = ()
    stopped_early: bool = False
    output: str = "-"
    stats_path: str | None = None
    first_errors: tuple[str, ...] = ()

    def with_stats(self, path: str) -> RunSummary:
        """Return the same summary, with the path of its statistics."""
        return replace(self, stats_path=path)
