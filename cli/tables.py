"""The figures of a run as tables: one line of counts, one table row a field.

Takes the statistics of the pipelines; computes none. Fits a terminal of 80 columns, and shows
more on a wider one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from pipelines.stats import FieldStats, StatsFile
    from pipelines.summary import RunSummary

__all__ = ["field_table", "show_stats", "show_summary"]

WIDE = 110
LONGEST_VALUE = 24


def show_summary(summary: RunSummary) -> None:
    """Write the table of fields, the first errors and the line of counts to stderr.

    A run over a single good document says nothing: its record says it all.
    """
    console = Console(stderr=True, highlight=False)
    if summary.documents > 1 and summary.fields:
        console.print(field_table(summary.fields, console.width))
    for message in summary.first_errors:
        console.print(Text.assemble(("error: ", "red"), message), soft_wrap=True)
    if summary.documents != summary.ok or summary.documents > 1:
        console.print(_counts(summary), soft_wrap=True)


def show_stats(stats: StatsFile) -> None:
    """Write the table of fields and the counts of an output file to stdout."""
    console = Console(highlight=False)
    if stats.fields:
        console.print(field_table(stats.fields, console.width))
    console.print(_status(stats), soft_wrap=True)


def field_table(fields: Iterable[FieldStats], width: int) -> Table:
    """Return a table of one row a field, for a console of `width` columns.

    `logprob` is the mean log-probability of a token of the field, in nats: 0 is certain.
    """
    wide = width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("field", overflow="fold", no_wrap=False, max_width=30 if wide else 18)
    for name in ("present", "null", "distinct"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("range", no_wrap=True, overflow="ellipsis", max_width=28 if wide else 14)
    if wide:
        table.add_column("length", no_wrap=True)
    table.add_column("top values", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("logprob", justify="right", no_wrap=True)
    if wide:
        table.add_column("pressure", justify="right", no_wrap=True)
    for field in fields:
        table.add_row(*_cells(field, wide=wide))
    return table


def _cells(field: FieldStats, *, wide: bool) -> list[Text]:
    distinct = f"{field.distinct}{'+' if field.distinct_is_floor else ''}"
    cells = [field.name, str(field.present), str(field.null), distinct, _range(field, wide=wide)]
    if wide:
        cells.append(_length(field))
    cells += [_top(field), _number(field.mean_logprob, 2)]
    if wide:
        cells.append(_number(field.mean_pressure, 2))
    return [Text(cell) for cell in cells]


def _range(field: FieldStats, *, wide: bool) -> str:
    """Return the bounds of numbers; of texts their lengths where there is no column for these."""
    if isinstance(field.low, (int, float)) and not isinstance(field.low, bool):
        return _span(_number(field.low, 6), _number(field.high, 6))
    if not wide:
        return _length(field)
    return "" if field.low is None else _span(_short(field.low, 12), _short(field.high, 12))


def _length(field: FieldStats) -> str:
    if field.length_min is None or field.length_max is None:
        return ""
    return _span(str(field.length_min), str(field.length_max)) + " long"


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} … {high}"


def _top(field: FieldStats) -> str:
    """Return the most frequent values, those that occur more than once or the first one."""
    shown = [pair for pair in field.top if pair[1] > 1] or list(field.top[:1])
    return ", ".join(f"{_short(value, LONGEST_VALUE)} {count}×" for value, count in shown)


def _short(value: Any, longest: int) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _number(value: float | None, digits: int) -> str:
    if value is None or not math.isfinite(value):
        return ""
    return str(value) if isinstance(value, int) else f"{value:.{digits}f}".rstrip("0").rstrip(".")


def _counts(summary: RunSummary) -> Text:
    speed = summary.documents / summary.seconds if summary.seconds else 0.0
    text = _status(summary)
    text.append(f" in {summary.seconds:.1f} s ({speed:.1f} docs/s", "dim")
    if summary.tokens:
        text.append(f", {summary.tokens / max(summary.seconds, 1e-9):.0f} tokens/s", "dim")
    text.append(")", "dim")
    if summary.output != "-":
        text.append(f" → {summary.output}", "dim")
    return text


def _status(counts: RunSummary | StatsFile) -> Text:
    noun = "document" if counts.documents == 1 else "documents"
    return Text.assemble(
        f"{counts.documents} {noun}: ",
        (f"{counts.ok} ok", "green"),
        (f", {counts.invalid} invalid", "yellow" if counts.invalid else "dim"),
        (f", {counts.error} error", "red" if counts.error else "dim"),
    )
