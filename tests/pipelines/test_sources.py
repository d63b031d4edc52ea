"""Tests of pipelines.sources."""

from __future__ import annotations

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.config import InputConfig, SchemaInputConfig
from pipelines.errors import InputError
from pipelines.sources import Sources, open_sources

__all__: list[str] = []


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("docs/b.txt", "docs/a.md", "docs/sub/c.jsonl", "docs/.hidden.txt", "docs/x.csv",
                 "docs/.git/d.txt", "docs/y.csv", "docs/z.zip", "one[1].txt", "plain"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def opened(*paths: str, **options: Any) -> Sources:
    with open_sources(InputConfig(paths=paths, **options)) as sources:
        return sources


def test_a_folder_gives_all_known_files_below_it_in_order() -> None:
    files = opened("docs").files
    assert [file.name for file in files] == ["docs/a.md", "docs/b.txt", "docs/sub/c.jsonl"]
    assert [file.kind for file in files] == ["text", "text", "jsonl"]


def test_files_of_unknown_suffix_are_skipped_with_one_warning() -> None:
    assert opened("docs").warnings == (
        "3 files in folders were skipped, no reader knows their suffix: 2 .csv, 1 .zip",
    )


def test_a_file_that_is_named_is_read_whatever_its_suffix() -> None:
    [file] = opened("plain").files
    assert file.kind == "text"


def test_names_are_normal_paths() -> None:
    assert [f.name for f in opened("./docs/../docs/b.txt").files] == ["docs/b.txt"]


def test_a_pattern_gives_its_matches_in_order() -> None:
    assert [f.name for f in opened("docs/**/*.[mj]*").files] == ["docs/a.md", "docs/sub/c.jsonl"]


def test_a_file_that_exists_is_no_pattern() -> None:
    assert [f.name for f in opened("one[1].txt").files] == ["one[1].txt"]


def test_stdin_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"hello")))
    with open_sources(InputConfig(paths=("-",))) as sources:
        [file] = sources.files
        assert [file.path.read_bytes() for _ in range(2)] == [b"hello", b"hello"]
        assert (file.name, file.kind) == ("stdin", "text")
    assert not file.path.exists()


def test_stdin_is_jsonl_when_a_field_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    [file] = opened("-", text_field="body").files
    assert file.kind == "jsonl"


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("no.txt", {}, "no.txt: no such file or folder; check the path"),
        ("no/*.txt", {}, "no/*.txt: the pattern matches no file; check the path"),
        ("empty", {}, "empty: the folder holds no documents; we read .txt"),
        ("plain", {"text_field": "x"}, "text_field: applies to JSONL inputs, and there are none"),
        ("plain", {"text_column": "x"}, "text_column: applies to Parquet inputs"),
        ("plain", {"keep": ("x",)}, "keep: applies to JSONL or Parquet inputs"),
    ],
)
def test_what_cannot_be_meant_is_an_error(path: str, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        opened(path, **options)


def test_a_field_of_schemas_asks_for_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    with open_sources(SchemaInputConfig(paths=("-",), schema_field="x")) as sources:
        assert sources.files[0].kind == "jsonl"
    with (
        pytest.raises(InputError, match="schema_field: applies to JSONL or Parquet inputs"),
        open_sources(SchemaInputConfig(paths=("plain",), schema_field="x")),
    ):
        pass
