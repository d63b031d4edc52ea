"""Tests of pipelines.sinks: whole lines, whole files, and what is left when writing fails."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from pipelines.columns import Column, Json, Scalar, Struct, column_for
from pipelines.config import OutputConfig
from pipelines.errors import ConfigError, OutputError, OutputExistsError, ReaderGoneError
from pipelines.outputs import read_records
from pipelines.records import Record, RecordError, to_json
from pipelines.sinks import open_sink
from tests.pipelines.stand_in import read_lines
from tests.pipelines.test_columns import VALUES

__all__: list[str] = []

SEPARATORS = "a\u2028b\u2029c\u0085d\x0be\0f"
RECORDS = [
    Record("a", "ok", {"q": SEPARATORS, "n": 1}, meta={"model": "m"}, keep={"k": 1.5}),
    Record("b", "invalid", {"q": "x", "n": 2}, (RecordError("validate", "bad", "/n", "minimum"),)),
    Record("c", "error", None, (RecordError("read", "no"),), keep={"k": None}),
]
SCHEMA = {"properties": {"q": {"type": "string"}, "n": {"type": "integer"}}}


def write(path: Path, records: list[Record], value: Column | None = None, **options: Any) -> None:
    config = OutputConfig(path=str(path), **options)
    with open_sink(config, value or column_for(SCHEMA, SCHEMA)) as sink:
        for record in records:
            sink.write(record)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def fail_after_first(config: OutputConfig) -> None:
    with open_sink(config, Struct()) as sink:
        sink.write(RECORDS[0])
        raise KeyError


def fail_on_second(config: OutputConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_sink(config, Struct()) as sink:
        sink.write(RECORDS[0])
        fill_disk(sink, monkeypatch)
        sink.write(RECORDS[1])


def test_jsonl_has_one_line_a_record_under_every_rule_for_lines(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path, RECORDS)
    text = path.read_text("utf-8")
    assert [json.loads(line) for line in text.splitlines()] == [to_json(r) for r in RECORDS]
    assert text.endswith("\n")
    assert b"\0" not in path.read_bytes()


def test_records_have_their_keys_in_a_fixed_order(tmp_path: Path) -> None:
    write(tmp_path / "out.jsonl", RECORDS)
    rows = read_lines(tmp_path / "out.jsonl")
    assert [list(row) for row in rows] == [
        ["id", "status", "value", "keep", "meta"],
        ["id", "status", "value", "errors", "meta"],
        ["id", "status", "value", "errors", "keep", "meta"],
    ]


def test_bare_values_have_a_line_for_errors_too(tmp_path: Path) -> None:
    write(tmp_path / "out.jsonl", RECORDS, bare=True)
    assert read_lines(tmp_path / "out.jsonl") == [record.value for record in RECORDS]


def test_parquet_has_typed_columns(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    write(path, RECORDS)
    schema = pq.read_schema(path)
    assert schema.names == ["id", "status", "value", "errors", "keep", "meta"]
    assert str(schema.field("value").type) == "struct<q: string, n: int64>"
    assert str(schema.field("keep").type) == "struct<k: double>"
    rows = pq.read_table(path).to_pylist()
    assert [row["value"] for row in rows] == [record.value for record in RECORDS]
    assert rows[1]["errors"][0]["pointer"] == "/n"


def test_parquet_reads_back_as_the_same_records(tmp_path: Path) -> None:
    write(tmp_path / "out.parquet", RECORDS)
    write(tmp_path / "out.jsonl", RECORDS)
    for one, other in zip(
        read_records(tmp_path / "out.parquet"), read_records(tmp_path / "out.jsonl"), strict=True
    ):
        assert one["meta"] == other["meta"]
        assert one["value"] == other["value"]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VALUES)
def test_any_value_survives_parquet_as_json(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "out.parquet"
    write(path, [Record("a", "ok", value)], Json(), overwrite=True)
    [row] = read_records(path)
    assert row["value"] == value


def test_an_empty_run_writes_an_empty_file_of_the_right_columns(tmp_path: Path) -> None:
    write(tmp_path / "out.parquet", [])
    write(tmp_path / "out.jsonl", [])
    table = pq.read_table(tmp_path / "out.parquet")
    assert (table.num_rows, table.schema.names[2]) == (0, "value")
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_memory_holds_a_chunk_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.sinks.parquet._CHUNK_ROWS", 2)
    write(tmp_path / "out.parquet", [Record(str(n), "ok", {"n": n}) for n in range(5)])
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.num_row_groups == 3


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
class TestFiles:
    def test_nothing_else_is_left_behind(self, tmp_path: Path, name: str) -> None:
        write(tmp_path / name, RECORDS)
        assert names(tmp_path) == [name]

    def test_an_existing_output_is_not_touched(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("precious")
        with pytest.raises(OutputExistsError, match="exists already; choose another name, or give"):
            write(tmp_path / name, RECORDS)
        assert (tmp_path / name).read_text() == "precious"

    def test_it_is_replaced_when_asked_but_only_at_the_end(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("old")
        config = OutputConfig(path=str(tmp_path / name), overwrite=True)
        with open_sink(config, Scalar("string")) as sink:
            sink.write(RECORDS[2])
            assert (tmp_path / name).read_text() == "old"
        assert (tmp_path / name).read_bytes() != b"old"

    def test_a_run_that_fails_keeps_its_whole_records_aside(
        self, tmp_path: Path, name: str
    ) -> None:
        config = OutputConfig(path=str(tmp_path / name))
        with pytest.raises(KeyError) as caught:
            fail_after_first(config)
        [note] = caught.value.__notes__
        assert note == f"the 1 records written so far are in {tmp_path / name}.partial"
        assert names(tmp_path) == [f"{name}.partial"]
        assert read_lines(tmp_path / f"{name}.partial") == [to_json(RECORDS[0])]

    def test_a_run_that_fails_at_once_leaves_nothing(self, tmp_path: Path, name: str) -> None:
        with (
            pytest.raises(KeyError),
            open_sink(OutputConfig(path=str(tmp_path / name)), Struct()),
        ):
            raise KeyError
        assert names(tmp_path) == []

    def test_what_an_unfinished_run_left_is_not_overwritten(
        self, tmp_path: Path, name: str
    ) -> None:
        (tmp_path / f"{name}.partial").write_text("{}\n")
        with pytest.raises(OutputExistsError, match="an earlier run that did not finish left"):
            write(tmp_path / name, RECORDS)

    def test_a_full_disk_leaves_whole_records_and_no_half_file(
        self, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = OutputConfig(path=str(tmp_path / name))
        with pytest.raises(OutputError) as caught:
            fail_on_second(config, monkeypatch)
        assert str(caught.value) == (
            f"{tmp_path / name}: cannot be written (No space left on device); "
            "make room or choose another place, then run again"
        )
        assert not (tmp_path / name).exists()
        assert read_lines(tmp_path / f"{name}.partial") == [to_json(RECORDS[0])]

    def test_a_folder_is_refused(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).mkdir()
        with pytest.raises(ConfigError, match="is a folder; name a file in it"):
            write(tmp_path / name, RECORDS)

    def test_a_missing_folder_is_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(ConfigError, match="there is no folder"):
            write(tmp_path / "no" / name, RECORDS)


def fill_disk(sink: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sink's file write half a line, then fail as on a full disk."""
    lines = getattr(sink, "_lines", None) or sink._file
    file = lines._file

    class Full:
        def write(self, line: bytes) -> None:
            file.write(line[: len(line) // 2])
            file.flush()
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            file.close()

    monkeypatch.setattr(lines, "_file", Full())


def test_a_full_disk_at_the_end_keeps_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pipelines.sinks.parquet._write", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write(tmp_path / "out.parquet", RECORDS)
    assert names(tmp_path) == ["out.parquet.partial"]
    assert len(read_lines(tmp_path / "out.parquet.partial")) == 3


class Pipe(io.BytesIO):
    """Stdout whose reader leaves after one line."""

    def flush(self) -> None:
        if self.getvalue().count(b"\n") > 1:
            raise BrokenPipeError


def test_a_reader_of_stdout_that_leaves_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.sinks.stdout._silence", lambda: None)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=Pipe()))
    with open_sink(OutputConfig(), Json()) as sink:
        sink.write(RECORDS[0])
        with pytest.raises(ReaderGoneError):
            sink.write(RECORDS[1])


SCRIPT = """
from pipelines.columns import Json
from pipelines.config import OutputConfig
from pipelines.errors import ReaderGoneError
from pipelines.records import Record
from pipelines.sinks import open_sink
try:
    with open_sink(OutputConfig(), Json()) as sink:
        for n in range(100_000):
            sink.write(Record(str(n), "ok", "x" * 1000))
except ReaderGoneError:
    pass
"""


def test_a_real_pipe_that_closes_leaves_stderr_empty() -> None:
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["id"] == "0"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_behind_stdout_is_an_output_error() -> None:
    root = Path(__file__).resolve().parents[3]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=root,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    last = done.stderr.decode().strip().splitlines()[-1]
    assert last == (
        "pipelines.errors.OutputError: stdout: cannot be written (No space left on device); "
        "make room, then run again"
    )
