"""`constrain stats`: the per-field table of an output, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["stats"]


def stats(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Records: a .jsonl or .parquet file.")],
) -> None:
    """Show the per-field statistics of an output file."""
    from cli.tables import show_stats
    from pipelines.stats import read_stats

    show_stats(read_stats(out))
