"""Bad input, one row a fault: the class of the error (and so the exit code) and its text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from constrain.errors import ConstraintError, ModelError, RegexError, SchemaError
from pipelines.config import ConstraintConfig, ExtractConfig, build_config
from pipelines.constraint import load_constraint
from pipelines.errors import ConfigError, InputError, OutputError, OutputExistsError
from pipelines.extract import extract
from tests.pipelines.stand_in import Watcher, read_lines, stand_in, use_model

__all__: list[str] = []

GOOD = json.dumps({"type": "object", "properties": {"x": {"type": "string", "maxLength": 5}}})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "good.txt").write_text("good")
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "binary.txt").write_bytes(bytes(range(256)))
    (tmp_path / "dangling.txt").symlink_to(tmp_path / "gone")
    (tmp_path / "folder").mkdir()
    (tmp_path / "rows.jsonl").write_text('{"body": "x"}\n')
    (tmp_path / "twice.jsonl").write_text('{"id":"a","text":"1"}\n\n{"id":"a","text":"2"}\n')
    (tmp_path / "ints.jsonl").write_text('{"id":1,"text":"1"}\n{"id":"1","text":"2"}\n')
    (tmp_path / "there.jsonl").write_text("precious\n")
    pq.write_table(pa.table({"body": ["x"]}), tmp_path / "rows.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(paths: list[str], **groups: Any) -> None:
    values = {
        "inputs": {"paths": paths, **groups.pop("inputs", {})},
        "constraint": {"schema": GOOD},
        "output": {"path": "out.jsonl"},
        **groups,
    }
    extract(build_config(ExtractConfig, values), Watcher())


USAGE: list[tuple[Any, type[Exception], str]] = [
    ({"paths": ["gone.txt"]}, InputError, "gone.txt: no such file or folder; check the path"),
    ({"paths": ["gone/*.txt"]}, InputError, "gone/*.txt: the pattern matches no file"),
    ({"paths": ["folder"]}, InputError, "folder: the folder holds no documents; we read .txt"),
    (
        {"paths": ["rows.jsonl"]},
        InputError,
        "rows.jsonl: no row has the field 'text'; the first has 'body'; name the field with",
    ),
    (
        {"paths": ["rows.parquet"]},
        InputError,
        "there is no column 'text'; the file has 'body'; choose one with --text-column",
    ),
    (
        {"paths": ["rows.parquet"], "inputs": {"text_column": "body", "keep": ["k"]}},
        InputError,
        "rows.parquet: there is no column 'k'; the file has 'body'; choose one with --keep",
    ),
    (
        {"paths": ["twice.jsonl"]},
        InputError,
        "the id 'a' comes twice: twice.jsonl, line 1 and twice.jsonl, line 3; make ids unique",
    ),
    (
        {"paths": ["ints.jsonl"]},
        InputError,
        'ints.jsonl, line 1 and ints.jsonl, line 2; make ids unique (1 and "1" are one id)',
    ),
    (
        {"paths": ["good.txt"], "constraint": {"schema": "gone.json"}},
        ConfigError,
        "gone.json: no such schema file; give a .json or .yaml file",
    ),
    (
        {"paths": ["good.txt"], "constraint": {"schema": '{"type": "strng"}'}},
        ConstraintError,
        "at #/type:",
    ),
    (
        {"paths": ["good.txt"], "constraint": {"regex": "[a"}},
        ConstraintError,
        "at pattern, column",
    ),
    (
        {"paths": ["good.txt"], "output": {"path": "there.jsonl"}},
        OutputExistsError,
        "there.jsonl: the output exists already; choose another name, or give --overwrite",
    ),
    (
        {"paths": ["there.jsonl"], "output": {"path": "there.jsonl", "overwrite": True}},
        ConfigError,
        "there.jsonl: is also an input, and would be overwritten",
    ),
    (
        {"paths": ["good.txt"], "output": {"path": "gone/out.jsonl"}},
        ConfigError,
        "gone/out.jsonl: there is no folder gone; make it",
    ),
]


@pytest.mark.parametrize(("options", "kind", "text"), USAGE)
def test_a_usage_error_says_place_fact_and_remedy_and_leaves_nothing(
    options: dict[str, Any],
    kind: type[Exception],
    text: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_model(monkeypatch, stand_in(lambda _: "{}"))
    before = sorted(path.name for path in folder.iterdir())
    options = dict(options)
    with pytest.raises(kind, match=re.escape(text)):
        run(options.pop("paths"), **options)
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (folder / "there.jsonl").read_text() == "precious\n"


RECORDS = [
    ("empty.txt", "empty.txt: the document is empty"),
    ("binary.txt", "binary.txt: the file is binary data, not text; convert it to text first"),
    ("dangling.txt", "dangling.txt: the file cannot be read (No such file or directory)"),
]


@pytest.mark.parametrize(("name", "reason"), RECORDS)
def test_a_bad_document_is_an_error_record_and_the_run_goes_on(
    name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, stand_in(lambda _: '{"x": "ab"}'))
    run([name, "good.txt"])
    [bad, good] = read_lines(Path("out.jsonl"))
    assert (bad["id"], bad["status"], bad["value"]) == (name, "error", None)
    assert bad["errors"][0]["stage"] == "read"
    assert bad["errors"][0]["reason"].startswith(reason)
    assert (good["status"], good["value"]) == ("ok", {"x": "ab"})


@pytest.mark.parametrize("name", ["./no-such-model", "no-such-model.gguf"])
def test_an_unknown_model_is_named(name: str) -> None:
    with pytest.raises(ModelError, match=re.escape(name)):
        run(["good.txt"], model={"name": name})
    assert not Path("out.jsonl").exists()


def test_a_full_disk_keeps_the_records_that_were_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(monkeypatch, stand_in(lambda _: '{"x": "ab"}'))
    monkeypatch.setattr("pipelines.sinks.partial.os.fsync", full)
    with pytest.raises(OutputError) as caught:
        run(["good.txt"])
    assert str(caught.value) == (
        "out.jsonl: cannot be written (No space left on device); "
        "make room or choose another place, then run again"
    )
    assert not Path("out.jsonl").exists()
    assert [r["status"] for r in read_lines(Path("out.jsonl.partial"))] == ["ok"]
    assert caught.value.__notes__ == ["the 1 records written so far are in out.jsonl.partial"]


def full(_descriptor: int) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ('{"type": 5}', "#/type"),
        ('{"properties": {"a": 3}}', "#/properties/a"),
        ('{"properties": []}', "#/properties"),
        ('{"anyOf": {}}', "#/anyOf"),
        ('{"properties": {"a": {"enum": {}}}}', "#/properties/a/enum"),
    ],
)
def test_a_malformed_schema_is_refused_by_the_engine_before_anything_reads_it(
    schema: str, place: str
) -> None:
    with pytest.raises(SchemaError, match=f"^at {place}: "):
        load_constraint(ConstraintConfig(schema=schema))


def test_a_malformed_regex_is_refused_before_a_model_is_loaded() -> None:
    with pytest.raises(RegexError, match="never closed"):
        load_constraint(ConstraintConfig(regex="a("))
