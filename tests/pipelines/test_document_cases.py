"""The public faults of ../shared/data/cases whose input is documents, run from end to end."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from constrain.compiler import compile_choices, compile_regex, compile_schema
from constrain.decoding.loop import generate
from constrain.decoding.options import DecodeOptions, Request
from pipelines.columns import column_for
from pipelines.config import ExtractConfig, OutputConfig, build_config
from pipelines.errors import InputError
from pipelines.extract import extract
from pipelines.outputs import read_records
from pipelines.records import Record
from pipelines.sinks import open_sink
from pipelines.validate import Validator
from tests.pipelines.stand_in import Answer, Watcher, read_lines, stand_in, use_model

__all__: list[str] = []

CASES = Path(__file__).resolve().parents[3] / "shared" / "data" / "cases" / "dev.jsonl"
pytestmark = pytest.mark.skipif(not CASES.is_file(), reason=f"no cases at {CASES}")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def case(name: str) -> dict[str, Any]:
    """Return the input of a case, and lay its files into the current folder."""
    rows = (json.loads(line) for line in CASES.read_text("utf-8").split("\n") if line)
    found: dict[str, Any] = next(row["input"] for row in rows if row["id"] == name)
    for file in found.get("files", ()):
        data = base64.b64decode(file["bytes_b64"]) if "bytes_b64" in file else file["text"].encode()
        Path(file["name"]).write_bytes(data)
    return found


def run(
    monkeypatch: pytest.MonkeyPatch, found: dict[str, Any], paths: list[str], answer: Answer,
    **groups: Any,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    use_model(monkeypatch, stand_in(answer))
    values = {
        "inputs": {"paths": paths, **groups.pop("inputs", {})},
        "constraint": {"schema": json.dumps(found.get("schema", True))},
        "output": {"path": "out.jsonl", "overwrite": True},
        "decoding": {"max_new_tokens": 80, "batch_size": 4},
    }
    extract(build_config(ExtractConfig, values), Watcher())
    return {record["id"]: record for record in read_lines(Path("out.jsonl"))}


def reason(record: dict[str, Any]) -> str:
    assert record["status"] == "error"
    return str(record["errors"][0]["reason"])


def test_text_that_looks_like_control_tokens_is_processed_as_usual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = case("document-holds-control-tokens")
    answer = '{"total": "12 EUR"}'
    records = run(monkeypatch, found, ["doc.txt", "doc2.txt"], lambda _: answer)
    assert [r["value"] for r in records.values()] == [{"total": "12 EUR"}] * 2


@pytest.mark.parametrize("seed", range(5))
def test_mixed_constraints_in_one_batch_keep_to_their_own(seed: int) -> None:
    rows = case("mixed-constraints-in-one-batch")["rows"]
    model = stand_in(lambda _: "")
    requests = []
    for key, row in enumerate(rows):
        if "schema" in row:
            compiled = compile_schema(row["schema"], model.vocabulary)
        elif "regex" in row:
            compiled = compile_regex(row["regex"], model.vocabulary)
        else:
            compiled = compile_choices(row["choices"], model.vocabulary)
        requests.append(Request(key, tuple(model.tokenizer.encode(f"p{key}")), compiled))

    def texts(batch_size: int) -> dict[int, str]:
        options = DecodeOptions(batch_size, 2000, temperature=1.0, seed=seed)
        found = list(generate(model, requests, options))
        assert all(generation.complete for generation in found)
        return {generation.key: generation.text for generation in found}

    together = texts(4)
    assert together == texts(1)
    for key, row in enumerate(rows):
        value = json.loads(together[key]) if "schema" in row else together[key]
        assert not Validator(row.get("schema", True)).faults(value)
    assert together[1].isdigit()
    assert together[2] in {"yes", "no"}


def test_documents_do_not_bleed_into_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    found = case("documents-do-not-bleed")

    def company(document: str) -> str:
        return json.dumps({"company": document.partition(" owes")[0]})

    names = ["a.txt", "b.txt", "c.txt"]
    forward = run(monkeypatch, found, names, company)
    assert list(forward) == names
    assert [r["value"]["company"] for r in forward.values()] == [
        "Alpha Ltd",
        "Beta GmbH",
        "Gamma SA",
    ]
    assert run(monkeypatch, found, names[::-1], company) == forward


def test_a_code_page_is_an_error_that_names_the_byte_or_read_as_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = case("document-cp1252")
    seen: list[str] = []

    def answer(document: str) -> str:
        seen.append(document)
        return '{"x": "ab"}'

    records = run(monkeypatch, found, ["ok.txt", "win.txt"], answer)
    assert records["ok.txt"]["status"] == "ok"
    assert reason(records["win.txt"]).startswith("win.txt: byte 3 (0xe9) is not utf-8")
    run(monkeypatch, found, ["win.txt"], answer, inputs={"encoding": "cp1252"})
    assert seen[-1] == "Café – 10 €"


def test_nul_bytes_do_not_cut_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    found = case("document-with-nul-bytes")
    seen: list[str] = []
    records = run(monkeypatch, found, ["nul.txt"], lambda d: (seen.append(d), '{"total": "10"}')[1])
    assert seen[-1].endswith("Total 5")
    assert "\0" not in seen[-1]
    assert records["nul.txt"]["status"] == "ok"
    assert "NUL" in records["nul.txt"]["meta"]["warnings"][0]
    assert b"\0" not in Path("out.jsonl").read_bytes()


def test_line_separators_in_values_do_not_cut_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    found = case("line-separators-in-output-jsonl")
    text = found["files"][0]["text"]
    quote = json.dumps({"quote": text.replace("\x0b", " ")}, ensure_ascii=False)
    run(monkeypatch, found, ["d.txt"], lambda _: quote)
    lines = Path("out.jsonl").read_bytes().split(b"\n")
    assert lines[1:] == [b""]
    assert json.loads(lines[0])["value"]["quote"] == text.replace("\x0b", " ")
    assert len(Path("out.jsonl").read_text("utf-8").splitlines()) == 1


def test_empty_and_blank_documents_have_rows_and_harm_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = case("empty-and-blank-documents")
    paths = ["empty.txt", "blank.txt", "ok.txt", "in.jsonl"]
    records = run(monkeypatch, found, paths, lambda _: '{"x": null}')
    assert list(records) == ["empty.txt", "blank.txt", "ok.txt", "1"]
    assert reason(records["empty.txt"]) == "empty.txt: the document is empty"
    assert reason(records["1"]) == "in.jsonl, line 2: the document is empty"
    alone = run(monkeypatch, found, ["ok.txt"], lambda _: '{"x": null}')
    assert alone["ok.txt"] == records["ok.txt"]


def test_duplicate_ids_are_refused_before_any_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    found = case("duplicate-ids")

    def answer(_: str) -> str:
        raise AssertionError("generated")

    with pytest.raises(
        InputError, match=r"'a' comes twice: in\.jsonl, line 1 and in\.jsonl, line 2"
    ):
        run(monkeypatch, found, ["in.jsonl"], answer)
    lines = Path("in.jsonl").read_text().splitlines()
    Path("in.jsonl").write_text("\n".join(lines[1:]))
    with pytest.raises(InputError, match=r"'1' comes twice.*1 and \"1\" are one id"):
        run(monkeypatch, found, ["in.jsonl"], answer)
    Path("in.jsonl").write_text("\n".join(lines[4:]))
    records = run(monkeypatch, found, ["in.jsonl"], lambda _: "10")
    assert list(records) == ["in.jsonl:1", "in.jsonl:2"]


@pytest.mark.parametrize("name", ["parquet-empty-struct-and-mixed", "parquet-big-integers"])
def test_values_without_a_column_type_survive_parquet_exactly(name: str) -> None:
    found = case(name)
    column = column_for(found["schema"], found["schema"])
    with open_sink(OutputConfig(path="out.parquet"), column) as sink:
        for row in found["outputs"]:
            sink.write(Record(row["id"], "ok", row["output"]))
    assert pq.read_table("out.parquet").num_rows == 3
    values = [row["value"] for row in read_records(Path("out.parquet"))]
    assert [json.dumps(value) for value in values] == [
        json.dumps(row["output"]) for row in found["outputs"]
    ]


def test_mixed_values_are_json_text_and_big_integers_decimals() -> None:
    for name in ("parquet-empty-struct-and-mixed", "parquet-big-integers"):
        test_values_without_a_column_type_survive_parquet_exactly(name)
        kind = str(pq.read_schema("out.parquet").field("value").type)
        Path("out.parquet").unlink()
        assert kind in {"struct<meta: string, v: string>", "struct<n: decimal128(38, 0)>"}
