"""Tests of pipelines.extract: whole runs through the real engine with a scripted model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from constrain.errors import GrammarError, UnsupportedSchema
from pipelines.config import ExtractConfig, build_config
from pipelines.errors import ConfigError
from pipelines.extract import extract
from pipelines.summary import RunSummary
from tests.pipelines.stand_in import Answer, Watcher, read_lines, stand_in, use_model

__all__: list[str] = []

NAME: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "n": {"type": ["integer", "null"], "minimum": 0, "maximum": 999},
    },
    "required": ["name", "n"],
    "additionalProperties": False,
}


def echo(document: str) -> str:
    """Answer from the document alone: its first word, and its length."""
    first, *_ = document.split()
    return json.dumps({"name": first, "n": len(document)}, ensure_ascii=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in {"a": "Alpha Ltd", "b": "Beta GmbH & Co", "c": "Gamma SA owes 30"}.items():
        (docs / f"{name}.txt").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Runner:
    """Runs `extract` over the stand-in model, and keeps what it told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.watcher = Watcher()
        self.answer: Answer = echo

    def __call__(self, *paths: str, context: int = 4096, **groups: Any) -> RunSummary:
        use_model(self._monkeypatch, stand_in(self.answer, context_length=context))
        values = {
            "inputs": {"paths": paths, **groups.pop("inputs", {})},
            "constraint": {"schema": json.dumps(NAME)},
            "output": {"path": "out.jsonl", "overwrite": True},
            **groups,
        }
        values["decoding"] = {"max_new_tokens": 100, **values.get("decoding", {})}
        return extract(build_config(ExtractConfig, values), self.watcher)

    @property
    def records(self) -> list[dict[str, Any]]:
        return read_lines(Path("out.jsonl"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(monkeypatch)


def test_every_document_has_one_record_in_input_order(run: Runner) -> None:
    summary = run("docs")
    assert [r["id"] for r in run.records] == ["docs/a.txt", "docs/b.txt", "docs/c.txt"]
    assert [r["value"] for r in run.records] == [
        {"name": "Alpha", "n": 9},
        {"name": "Beta", "n": 14},
        {"name": "Gamma", "n": 16},
    ]
    assert (summary.documents, summary.ok, summary.error) == (3, 3, 0)
    assert (run.watcher.total, run.watcher.documents) == (3, 3)


@pytest.mark.parametrize("batch_size", [1, 2, 8])
def test_records_do_not_depend_on_order_or_batch(run: Runner, batch_size: int) -> None:
    run("docs/c.txt", "docs/a.txt", "docs/b.txt", decoding={"batch_size": batch_size})
    backward = {r["id"]: r for r in run.records}
    run("docs")
    assert {r["id"]: r for r in run.records} == backward


def test_meta_says_how_sure_the_model_was(run: Runner) -> None:
    run("docs/a.txt")
    meta = run.records[0]["meta"]
    assert meta["model"] == "stand-in"
    assert set(meta["logprobs"]) == set(meta["pressures"]) == {"name", "n"}
    assert -1 < meta["logprobs"]["name"] <= 0
    assert 0 <= meta["pressure"] < 1
    assert meta["tokens"] > 0


def test_statistics_are_written_beside_the_output(run: Runner) -> None:
    summary = run("docs")
    assert summary.stats_path == "out.stats.json"
    content = json.loads(Path("out.stats.json").read_text())
    assert content["run"]["documents"] == 3
    assert [field["name"] for field in content["fields"]] == ["name", "n"]
    assert [field.name for field in summary.fields] == ["name", "n"]


def test_a_rerun_writes_the_same_bytes(run: Runner) -> None:
    run("docs", decoding={"temperature": 1.0, "seed": 5})
    first = Path("out.jsonl").read_bytes()
    run("docs", decoding={"temperature": 1.0, "seed": 5})
    assert Path("out.jsonl").read_bytes() == first


def test_parquet_has_the_value_as_a_struct(run: Runner) -> None:
    run("docs", output={"path": "out.parquet"})
    table = pq.read_table("out.parquet")
    assert str(table.schema.field("value").type) == "struct<name: string, n: int64>"
    assert table.column("value").to_pylist()[1] == {"name": "Beta", "n": 14}
    assert table.column("status").to_pylist() == ["ok"] * 3


def test_regex_and_choices_give_texts(run: Runner) -> None:
    run.answer = lambda _: "20"
    run("docs/a.txt", constraint={"regex": "[0-9]{2}"})
    assert run.records[0]["value"] == "20"
    run.answer = lambda _: "deny"
    run("docs/a.txt", constraint={"choices": ["approve", "deny"]})
    assert run.records[0]["value"] == "deny"


def test_a_grammar_and_a_file_of_choices_give_texts(run: Runner) -> None:
    Path("sum.gbnf").write_text('root ::= root "+" root | [0-9]\nidle ::= "x"\n', encoding="utf-8")
    run.answer = lambda _: "1+2+3"
    run("docs/a.txt", constraint={"grammar": "sum.gbnf"})
    assert run.records[0]["value"] == "1+2+3"
    assert "line 2, column 1: the rule 'idle' is never used" in run.watcher.warnings
    Path("labels.txt").write_text("card\ncard lost\n", encoding="utf-8")
    run.answer = lambda _: "card lost"
    run("docs/a.txt", constraint={"choices_file": "labels.txt"})
    assert run.records[0]["value"] == "card lost"


def test_an_example_that_breaks_the_grammar_is_refused(run: Runner) -> None:
    Path("sum.lark").write_text('start: start "+" start | /[0-9]/\n', encoding="utf-8")
    Path("gold.jsonl").write_text('{"id": "1", "text": "a", "value": "1+"}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="the grammar does not allow '1\\+'"):
        run("docs/a.txt", constraint={"grammar": "sum.lark"}, prompt={"examples": "gold.jsonl"})


def test_a_faulty_grammar_names_its_file_and_format(run: Runner) -> None:
    Path("bad.gbnf").write_text('root ::= ("a"\n', encoding="utf-8")
    with pytest.raises(GrammarError, match="line 1, column 10") as caught:
        run("docs/a.txt", constraint={"grammar": "bad.gbnf"})
    assert caught.value.__notes__ == ["in bad.gbnf, read as gbnf; --grammar-format says otherwise"]
    with pytest.raises(ConfigError, match="cannot be read"):
        run("docs/a.txt", constraint={"grammar": "none.gbnf"})


def test_an_answer_without_end_is_an_error_with_its_partial_text(run: Runner) -> None:
    run.answer = lambda _: '{"name": "' + "x" * 50
    summary = run("docs", decoding={"max_new_tokens": 20})
    [first, *_] = run.records
    assert (first["status"], first["value"]) == ("error", None)
    assert first["errors"] == [
        {
            "stage": "generate",
            "reason": "the answer was not finished after 20 tokens; raise --max-new-tokens",
        }
    ]
    assert first["meta"]["partial"].startswith('{"name": "xxx')
    assert (summary.error, summary.first_errors[0][:10]) == (3, "docs/a.txt")


def test_bad_documents_among_good_ones_change_nothing_else(run: Runner, folder: Path) -> None:
    run("docs")
    alone = {r["id"]: r for r in run.records}
    (folder / "docs" / "aa.txt").write_bytes(b"")
    (folder / "docs" / "bb.txt").write_bytes(b"%PDF-1.7")
    summary = run("docs", decoding={"batch_size": 4})
    found = {r["id"]: r for r in run.records}
    assert list(found) == [f"docs/{n}.txt" for n in ("a", "aa", "b", "bb", "c")]
    assert {key: found[key] for key in alone} == alone
    assert [found[f"docs/{n}.txt"]["errors"][0]["stage"] for n in ("aa", "bb")] == ["read", "read"]
    assert (summary.documents, summary.ok, summary.error) == (5, 3, 2)


def test_a_run_of_bad_documents_alone_ends_well(run: Runner, folder: Path) -> None:
    (folder / "in.jsonl").write_text('{"text": ""}\n{"text": 5}\n')
    summary = run("in.jsonl")
    assert (summary.documents, summary.error) == (2, 2)
    assert [r["id"] for r in run.records] == ["in.jsonl:1", "in.jsonl:2"]


def test_kept_columns_are_carried_also_by_errors(run: Runner, folder: Path) -> None:
    pq.write_table(pa.table({"text": ["Ab cd", ""], "lang": ["de", "fr"]}), folder / "in.parquet")
    run("in.parquet", inputs={"keep": ["lang"]}, output={"path": "out.parquet"})
    assert pq.read_table("out.parquet").column("keep").to_pylist() == [
        {"lang": "de"},
        {"lang": "fr"},
    ]


def test_a_document_longer_than_the_context_is_cut_and_told(run: Runner, folder: Path) -> None:
    (folder / "long.txt").write_text("Word " + "x" * 5000)
    run.answer = lambda document: json.dumps({"name": document.split()[0], "n": None})
    run("long.txt", context=700)
    [record] = run.records
    cut = record["meta"]["truncated_input"]
    assert cut["characters"] == 5005
    assert 0 < cut["kept_characters"] < 700
    assert record["value"]["name"] == "Word"
    assert run.watcher.warnings == [
        "documents that are longer than the model's context are cut",
        "1 documents were too long and have been cut",
    ]


DOUBLED: dict[str, Any] = {
    "type": "array",
    "items": {"type": "integer"},
    "maxItems": 3,
    "not": {"uniqueItems": True},
}
"""Some item stands twice: what the mask cannot ask for."""


def test_a_keyword_that_is_checked_afterwards_makes_records_invalid(run: Runner) -> None:
    run.answer = lambda document: "[10, 20]" if document.startswith("A") else "[10, 10]"
    summary = run("docs/a.txt", "docs/b.txt", constraint={"schema": json.dumps(DOUBLED)})
    [bad, good] = run.records
    assert (bad["status"], bad["value"], good["status"]) == ("invalid", [10, 20], "ok")
    assert bad["errors"][0]["keyword"] == "not"
    assert any("'not'" in warning for warning in run.watcher.warnings)
    assert (summary.ok, summary.invalid) == (1, 1)
    stats = json.loads(Path("out.stats.json").read_text())
    assert stats["run"]["invalid_by_keyword"] == {"not": 1}


def test_strict_refuses_what_would_be_checked_afterwards(run: Runner) -> None:
    with pytest.raises(UnsupportedSchema):
        run("docs", constraint={"schema": json.dumps(DOUBLED), "strict": True})
    assert not Path("out.jsonl").exists()


def test_a_pydantic_models_validators_make_records_invalid(
    run: Runner, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "m.py").write_text(
        "from pydantic import BaseModel, Field, field_validator\n"
        "class M(BaseModel):\n"
        "    name: str = Field(max_length=40)\n"
        "    n: int = Field(ge=0, le=999)\n"
        "    @field_validator('n')\n"
        "    @classmethod\n"
        "    def even(cls, n):\n"
        "        if n % 2: raise ValueError('n is odd')\n"
        "        return n\n"
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    run("docs/a.txt", "docs/b.txt", constraint={"schema": "m.py:M"})
    [odd, even] = run.records
    assert odd["errors"] == [
        {"stage": "validate", "reason": "n is odd", "pointer": "/n", "keyword": "model"}
    ]
    assert (odd["value"], even["status"]) == ({"name": "Alpha", "n": 9}, "ok")


def test_examples_come_from_the_inputs_by_id_and_are_marked(run: Runner, folder: Path) -> None:
    rows = [
        {"id": "b", "value": {"n": 1, "name": "Beta"}},
        {"id": "x", "text": "Other", "value": {"name": "O", "n": None}},
    ]
    (folder / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    seen: list[str] = []
    run.answer = lambda document: (seen.append(document), echo(document))[1]
    run("docs", prompt={"examples": "gold.jsonl:2"})
    assert [r["meta"].get("example") for r in run.records] == [None, True, None]
    assert len(run.records) == 3


def test_a_wrong_example_is_refused_before_the_model_is_loaded(run: Runner, folder: Path) -> None:
    (folder / "gold.jsonl").write_text('{"text": "x", "value": {"name": "O", "n": -1}}')
    with pytest.raises(Exception, match=r"gold\.jsonl, line 1: this example breaks .* at #/n: -1"):
        run("docs", prompt={"examples": "gold.jsonl"})


def test_memory_of_waiting_records_does_not_grow_with_the_input(
    run: Runner, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.collector import Collector

    most = 0
    put = Collector.put

    def watched(self: Collector, number: int, outcome: Any) -> None:
        nonlocal most
        put(self, number, outcome)
        most = max(most, len(self._waiting))

    monkeypatch.setattr(Collector, "put", watched)
    lines = [json.dumps({"text": "" if n % 3 else f"w{n} " + "x" * (n % 7)}) for n in range(120)]
    (folder / "in.jsonl").write_text("\n".join(lines))
    run("in.jsonl", decoding={"batch_size": 4})
    assert len(run.records) == 120
    assert most < 120


def test_structural_tags_give_a_field_for_each_named_part(run: Runner) -> None:
    Path("tags.yaml").write_text(
        "- {name: why, begin: '<think>', end: '</think>', text: {max_length: 50}}\n"
        "- {name: answer, begin: '=', choices: [long, short]}\n"
    )
    run.answer = lambda text: f"<think>{len(text)}</think>={'long' if len(text) > 10 else 'short'}"
    run("docs", constraint={"tags": "tags.yaml"})
    values = [record["value"] for record in run.records]
    assert values[0] == {"why": "9", "answer": "short"}
    assert [value["answer"] for value in values] == ["short", "long", "long"]
