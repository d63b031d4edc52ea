from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from cli.tables import field_table, show_summary
from tests.cli.fakes import field_stats, run_summary

__all__: list[str] = []

FIELDS = (
    field_stats("kind", low="article", high="chapter", top=(("article", 7), ("book", 3))),
    field_stats("invoices[].lines[].description", length_min=3, length_max=70, low="A", high="Z"),
    field_stats(
        "title", distinct_is_floor=True, top=(("A long title " * 9, 1),), low="A", high="Z"
    ),
    field_stats(mean_logprob=None, mean_pressure=None),
)


def rendered(width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(field_table(FIELDS, width))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text.splitlines()


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_the_table_fits_its_console(width: int) -> None:
    assert max(len(line.rstrip()) for line in rendered(width)) <= width


@pytest.mark.parametrize("width", [80, 120])
def test_no_number_is_cut(width: int) -> None:
    text = "\n".join(rendered(width))
    assert "1931 … 2021" in text
    assert "-0.12" in text or "-0.13" in text


def test_only_a_wide_console_shows_pressure() -> None:
    assert "pressure" in rendered(120)[0]
    assert "pressure" not in rendered(80)[0]


def test_a_narrow_console_shows_how_many_rows_are_filled() -> None:
    assert " 8/10 " in rendered(80)[-1]


def test_lengths_of_texts_and_arrays_have_units() -> None:
    assert "3 … 70 chars" in rendered(80)[3]


def test_a_long_name_keeps_its_end() -> None:
    assert rendered(80)[3].startswith("…lines[].description ")


def test_only_values_that_repeat_are_counted_as_top() -> None:
    assert "1999 3×" in rendered(120)[-1]
    assert "2021 1×" not in rendered(120)[-1]


def test_a_count_that_is_a_floor_says_so() -> None:
    assert any(" 5+ " in line for line in rendered(120))


def test_a_value_without_fields_has_a_name() -> None:
    table = field_table([field_stats(".")], 80)
    assert list(table.columns[0].cells) == [Text("(value)")]


def test_markup_in_a_value_stays_text(capsys: pytest.CaptureFixture[str]) -> None:
    show_summary(run_summary(fields=(field_stats("[red]x", top=(("[bold]", 2),)),)))
    assert "[red]x" in capsys.readouterr().err


def test_a_single_good_document_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    show_summary(run_summary(documents=1, ok=1))
    assert capsys.readouterr() == ("", "")


def test_a_single_bad_document_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    show_summary(run_summary(documents=1, ok=0, error=1, first_errors=("a.txt: empty",)))
    out, err = capsys.readouterr()
    assert out == ""
    assert "error: a.txt: empty" in err
    assert "1 document: 0 ok, 0 invalid, 1 error" in err


def test_of_very_many_fields_the_most_frequent_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fields = [field_stats(f"f{i:03}", present=10 - i % 5) for i in range(100)]
    show_summary(run_summary(fields=tuple(fields), stats_path="out.stats.json"))
    lines = capsys.readouterr().err.splitlines()
    names = [line[:4] for line in lines if line.startswith("f") and line[1].isdigit()]
    assert names == [f"f{i:03}" for i in range(100) if i % 5 < 2]
    assert "and 60 fields that are rarer; all are in out.stats.json" in lines


def test_the_counts_name_speed_and_output(capsys: pytest.CaptureFixture[str]) -> None:
    show_summary(run_summary(output="out.jsonl"))
    assert "in 4.0 s (2.5 docs/s, 100 tokens/s) → out.jsonl" in capsys.readouterr().err
