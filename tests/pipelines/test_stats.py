"""Tests of pipelines.tally and pipelines.stats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines import tally as tally_module
from pipelines.columns import column_for
from pipelines.confidence import Confidence
from pipelines.config import OutputConfig
from pipelines.errors import InputError
from pipelines.records import Record
from pipelines.sinks import open_sink
from pipelines.stats import read_stats, stats_path, write_stats
from pipelines.tally import FieldsTally, FieldStats

__all__: list[str] = []

VALUES: list[Any] = [
    {"name": "Ann", "n": 3, "tags": ["x", "y"]},
    {"name": "Bo", "n": None, "tags": []},
    {"name": "Ann", "n": 10, "tags": ["x"], "more": True},
]


def counted(values: list[Any]) -> dict[str, FieldStats]:
    tally = FieldsTally()
    for value in values:
        tally.add(value)
    return {field.name: field for field in tally.finish()}


def test_figures_of_texts() -> None:
    name = counted(VALUES)["name"]
    assert (name.rows, name.present, name.null, name.distinct) == (3, 3, 0, 2)
    assert (name.low, name.high) == ("Ann", "Bo")
    assert (name.length_min, name.length_mean, name.length_max) == (2, 2.666667, 3)
    assert name.top == (("Ann", 2), ("Bo", 1))
    assert name.types == (("string", 3),)


def test_figures_of_numbers_leave_null_out() -> None:
    number = counted(VALUES)["n"]
    assert (number.present, number.null, number.low, number.high) == (3, 1, 3, 10)
    assert number.length_min is None
    assert dict(number.types) == {"number": 2, "null": 1}


def test_arrays_have_lengths_and_their_elements_are_a_field() -> None:
    fields = counted(VALUES)
    assert (fields["tags"].length_min, fields["tags"].length_max) == (0, 2)
    assert (fields["tags[]"].present, fields["tags[]"].distinct) == (3, 2)


def test_a_field_that_is_not_always_there_has_fewer_present() -> None:
    assert (counted(VALUES)["more"].present, counted(VALUES)["more"].rows) == (1, 3)


def test_true_and_1_are_different_values() -> None:
    field = counted([{"x": True}, {"x": 1}, {"x": "1"}])["x"]
    assert dict(field.types) == {"boolean": 1, "number": 1, "string": 1}


def test_a_scalar_value_is_a_field_called_dot() -> None:
    assert counted(["approve", "deny", "approve"])["."].top == (("approve", 2), ("deny", 1))


def test_distinct_values_are_bounded_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_module, "_MAX_DISTINCT", 2)
    field = counted([{"x": n} for n in (1, 2, 3, 4, 1)])["x"]
    assert (field.distinct, field.distinct_is_floor) == (2, True)
    assert field.top == (("1", 2), ("2", 1))


def test_fields_are_bounded_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_module, "MAX_FIELDS", 2)
    tally = FieldsTally()
    tally.add({"a": 1, "b": 2, "c": 3})
    assert [field.name for field in tally.finish()] == ["a", "b"]
    assert tally.fields_left_out


def test_long_values_are_shown_short_and_stay_distinct() -> None:
    field = counted([{"x": "a" * 200 + "1"}, {"x": "a" * 200 + "2"}])["x"]
    assert field.distinct == 2
    assert all(len(text) < 100 for text, _ in field.top)


def test_confidence_is_the_mean_over_records() -> None:
    tally = FieldsTally()
    tally.add({"a": 1}, {"a": Confidence(-1.0, 0.5)})
    tally.add({"a": 2}, {"a": Confidence(-3.0, 0.0)})
    [field] = tally.finish()
    assert (field.mean_logprob, field.mean_pressure) == (-2.0, 0.25)


RECORDS = [
    *(
        Record(str(n), "ok", value, meta={"logprobs": {"name": -n}, "pressures": {"name": 0.5}})
        for n, value in enumerate(VALUES)
    ),
    Record("e", "error"),
    Record("i", "invalid", {"name": "Cy", "n": -1, "tags": []}),
]
SCHEMA = {
    "properties": {
        "name": {"type": "string"},
        "n": {"type": ["integer", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "more": {"type": "boolean"},
    }
}


def output(path: Path, records: list[Record], **options: Any) -> Path:
    config = OutputConfig(path=str(path), **options)
    with open_sink(config, column_for(SCHEMA, SCHEMA)) as sink:
        for record in records:
            sink.write(record)
    return path


def test_an_output_gives_the_runs_figures_again(tmp_path: Path) -> None:
    stats = read_stats(output(tmp_path / "out.jsonl", RECORDS))
    assert (stats.documents, stats.ok, stats.invalid, stats.error) == (5, 3, 1, 1)
    name = next(field for field in stats.fields if field.name == "name")
    assert (name.rows, name.mean_logprob, name.mean_pressure) == (4, -1.0, 0.5)


def test_parquet_gives_the_figures_of_jsonl_but_reads_missing_as_null(tmp_path: Path) -> None:
    jsonl = read_stats(output(tmp_path / "out.jsonl", RECORDS))
    parquet = read_stats(output(tmp_path / "out.parquet", RECORDS))
    assert parquet.documents == jsonl.documents
    assert parquet.fields[:4] == jsonl.fields[:4]
    assert (parquet.fields[4].present, jsonl.fields[4].present) == (4, 1)


def test_bare_values_count_as_ok(tmp_path: Path) -> None:
    stats = read_stats(output(tmp_path / "out.jsonl", RECORDS[:3], bare=True))
    assert (stats.documents, stats.ok) == (3, 3)
    assert stats.fields[0].mean_logprob is None


@pytest.mark.parametrize(
    ("name", "data", "fact"),
    [
        ("gone.jsonl", None, "gone.jsonl: no such output file; check the path"),
        ("bad.jsonl", b'{"id"', "bad.jsonl, line 1: not a record"),
        ("bad.parquet", b"PAR1", "bad.parquet: cannot be read as Parquet"),
    ],
)
def test_what_is_no_output_is_refused(
    tmp_path: Path, name: str, data: bytes | None, fact: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=fact):
        read_stats(tmp_path / name)


def test_statistics_lie_beside_the_output(tmp_path: Path) -> None:
    tally = FieldsTally()
    tally.add({"a": 1})
    path = write_stats(tmp_path / "out.jsonl", {"documents": 1}, tally.finish())
    assert path == stats_path(tmp_path / "out.jsonl") == tmp_path / "out.stats.json"
    content = json.loads(path.read_text("utf-8"))
    assert content["run"] == {"documents": 1}
    assert content["fields"][0]["name"] == "a"
