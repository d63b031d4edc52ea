"""The figures of a run as tables: one line of counts, one table row a field.

Takes the statistics of the pipelines; computes none. Fits a terminal of 80 columns, and shows
more on a wider one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.sizes import rate

if TYPE_CHECKING:
    from pipelines.stats import FieldStats, StatsFile
    from pipelines.summary import RunSummary

__all__ = ["field_table", "show_rows", "show_stats", "show_summary"]

WIDE = 110
GAP = 2
LONGEST_VALUE = 24
MOST_FIELDS = 40
"""Rows of the table after a run; documents of many schemas have hundreds of fields."""


def show_summary(summary: RunSummary) -> None:
    """Write the table of fields, the first errors and the line of counts to stderr.

    A run over a single good document says nothing: its record says it all.
    """
    console = Console(stderr=True, highlight=False)
    if summary.documents > 1 and summary.fields:
        console.print()
        often = sorted(summary.fields, key=lambda field: -field.present)[:MOST_FIELDS]
        names = {field.name for field in often}
        fields = [field for field in summary.fields if field.name in names]
        console.print(field_table(fields, console.width))
        _tell_hidden(console, len(summary.fields) - len(fields), summary.stats_path)
    for message in summary.first_errors:
        console.print(Text.assemble(("error: ", "red"), message), soft_wrap=True)
    if summary.documents != summary.ok or summary.documents > 1:
        console.print(_counts(summary), soft_wrap=True)


def _tell_hidden(console: Console, hidden: int, path: str | None) -> None:
    if hidden:
        where = f"; all are in {path}" if path else ""
        console.print(f"and {hidden} fields that are rarer{where}", style="dim", soft_wrap=True)


def show_stats(stats: StatsFile) -> None:
    """Write the table of fields and the counts of an output file to stdout."""
    console = Console(highlight=False)
    if stats.fields:
        console.print(field_table(stats.fields, console.width))
    console.print(_status(stats), soft_wrap=True)


def show_rows(names: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
    """Write aligned rows under `names` to stdout, or, where there are none, `empty` to stderr.

    Nothing is cut: a row may be longer than the terminal, its last cell can be copied whole.
    """
    if not rows:
        Console(stderr=True, highlight=False).print(Text(empty))
        return
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    console = Console(highlight=False)
    for number, row in enumerate([names, *rows]):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = Text("  ".join(cells).rstrip(), style="" if number else "bold")
        console.print(line, soft_wrap=True)


def field_table(fields: Iterable[FieldStats], width: int) -> Table:
    """Return a table of one row a field, for a console of `width` columns.

    `logprob` is the mean log-probability of a token of the field, in nats: 0 is certain.
    `pressure` is the mean probability that the mask took from the model's own choice.
    """
    wide = width >= WIDE
    columns = [
        column for column in COLUMNS if column.shown in ("always", "wide" if wide else "narrow")
    ]
    rows = [[column.cell(field, wide) for column in columns] for field in fields]
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    widths = [
        max(len(column.name), *(len(row[index]) for row in rows))
        for index, column in enumerate(columns)
    ]
    last = columns.index(TOP)
    taken = sum(widths) - widths[last] + GAP * (len(columns) - 1)
    widths[last] = max(len(TOP.name), min(widths[last], width - taken))
    for column, column_width in zip(columns, widths, strict=True):
        table.add_column(
            column.name,
            justify=column.justify,
            width=column_width,
            no_wrap=True,
            overflow="ellipsis",
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _name(field: FieldStats, wide: bool) -> str:
    """Return the end of the name, which tells more than its start."""
    longest = 32 if wide else 20
    name = "(value)" if field.name == "." else field.name
    return name if len(name) <= longest else "…" + name[1 - longest :]


def _distinct(field: FieldStats, wide: bool) -> str:
    return f"{field.distinct}{'+' if field.distinct_is_floor else ''}"


def _filled(field: FieldStats, wide: bool) -> str:
    return f"{field.present - field.null}/{field.rows}"


def _range(field: FieldStats, wide: bool) -> str:
    """Return the bounds of numbers, or of the lengths of texts and arrays."""
    if isinstance(field.low, (int, float)) and isinstance(field.high, (int, float)):
        return _span(_number(field.low, 6), _number(field.high, 6))
    if field.length_min is None or field.length_max is None:
        return ""
    unit = "items" if "array" in dict(field.types) else "chars"
    return f"{_span(str(field.length_min), str(field.length_max))} {unit}"


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} … {high}"


def _top(field: FieldStats, wide: bool) -> str:
    """Return the values that occur more than once and how often; else one value."""
    often = [f"{_short(value, LONGEST_VALUE)} {count}×" for value, count in field.top if count > 1]
    return ", ".join(often) or next(
        (_short(value, 2 * LONGEST_VALUE) for value, _ in field.top), ""
    )


def _short(value: Any, longest: int) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _number(value: float | None, digits: int) -> str:
    if value is None or not math.isfinite(value):
        return ""
    return str(value) if isinstance(value, int) else f"{value:.{digits}f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Column:
    """A column of the table; `cell` gets the field and whether the console is wide."""

    name: str
    cell: Callable[[FieldStats, bool], str]
    justify: Literal["left", "right"] = "right"
    shown: Literal["always", "narrow", "wide"] = "always"


TOP = Column("top values", _top, "left")
COLUMNS = (
    Column("field", _name, "left"),
    Column("filled", _filled, shown="narrow"),
    Column("present", lambda field, wide: str(field.present), shown="wide"),
    Column("null", lambda field, wide: str(field.null), shown="wide"),
    Column("distinct", _distinct),
    Column("range", _range, "left"),
    TOP,
    Column("logprob", lambda field, wide: _number(field.mean_logprob, 2)),
    Column("pressure", lambda field, wide: _number(field.mean_pressure, 2), shown="wide"),
)


def _counts(summary: RunSummary) -> Text:
    text = _status(summary)
    speed = rate(summary.documents, summary.seconds)
    text.append(f" in {summary.seconds:.1f} s ({speed} docs/s", "dim")
    if summary.tokens:
        text.append(f", {rate(summary.tokens, summary.seconds)} tokens/s", "dim")
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
