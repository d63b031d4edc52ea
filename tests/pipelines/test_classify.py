"""Tests of pipelines.classify: whole runs over a scripted model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipelines.classify import classify
from pipelines.config import ClassifyConfig, build_config
from pipelines.summary import RunSummary
from tests.fakes import scripted_model
from tests.pipelines.stand_in import ChatTokenizer, Watcher, read_lines, use_model

__all__: list[str] = []

LABELS = ["approve", "deny", "escal"]
BIAS = {"approve": 0.0, "deny": 6.0, "escal": 0.0}


def opinions(text: bytes) -> Mapping[int, float]:
    """Wish for "deny" whatever comes, and for the label that the document names a bit."""
    head, _, written = text.rpartition(b"\nassistant: ")
    if written:
        return {}
    document = head.rpartition(b"Message: ")[2].decode()
    tokens = ChatTokenizer()
    return {tokens.encode(label)[0]: BIAS[label] + 3.0 * (label in document) for label in LABELS}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for n, text in enumerate(["please approve", "do deny it", "", "escal now"]):
        (tmp_path / f"{n}.txt").write_text(text)
    monkeypatch.chdir(tmp_path)
    model = scripted_model(opinions)
    tokenizer: Any = ChatTokenizer()
    use_model(monkeypatch, replace(model, name="stand-in", tokenizer=tokenizer))
    return tmp_path


def run(*paths: str, **groups: Any) -> RunSummary:
    values = {
        "inputs": {"paths": paths},
        "labels": {"choices": LABELS, **groups.pop("labels", {})},
        "output": {"path": "out.jsonl", "overwrite": True},
        **groups,
    }
    return classify(build_config(ClassifyConfig, values), Watcher())


def records() -> list[dict[str, Any]]:
    return read_lines(Path("out.jsonl"))


def test_what_the_model_says_anyway_is_taken_away() -> None:
    run("*.txt", labels={"calibrate": False})
    assert [r["value"] for r in records()] == ["deny", "deny", None, "deny"]
    run("*.txt")
    assert [r["value"] for r in records()] == ["approve", "deny", None, "escal"]


def test_meta_has_a_probability_for_each_label_the_margin_and_the_runner_up() -> None:
    run("0.txt")
    meta = records()[0]["meta"]
    assert list(meta["probabilities"]) == LABELS
    assert sum(meta["probabilities"].values()) == pytest.approx(1, abs=1e-3)
    assert meta["probability"] == meta["probabilities"]["approve"]
    second = meta["probabilities"][meta["runner_up"]]
    assert meta["margin"] == pytest.approx(meta["probability"] - second, abs=1e-3)
    assert "scores" not in meta


def test_scores_are_told_when_asked_for() -> None:
    run("0.txt", labels={"scores": True})
    meta = records()[0]["meta"]
    assert list(meta["scores"]) == list(meta["baseline"]) == LABELS
    gain = meta["scores"]["approve"] - meta["baseline"]["approve"]
    assert gain > meta["scores"]["deny"] - meta["baseline"]["deny"]


def test_every_document_has_one_record_and_bad_ones_are_errors() -> None:
    summary = run("*.txt")
    assert [r["status"] for r in records()] == ["ok", "ok", "error", "ok"]
    assert (summary.documents, summary.ok, summary.error, summary.tokens) == (4, 3, 1, 0)
    assert summary.fields[0].name == "."


def test_labels_come_from_a_file(folder: Path) -> None:
    (folder / "labels").write_text("approve\ndeny\n")
    run("0.txt", labels={"choices": None, "choices_file": "labels"})
    assert list(records()[0]["meta"]["probabilities"]) == ["approve", "deny"]


def test_parquet_holds_the_label_as_text() -> None:
    run("*.txt", output={"path": "out.parquet"})
    table = pq.read_table("out.parquet")
    assert str(table.schema.field("value").type) == "string"
    assert json.loads(table.column("meta")[0].as_py())["probability"] > 0.3


def test_golden_rows_show_how(folder: Path) -> None:
    (folder / "gold.jsonl").write_text(
        '{"text": "x", "value": "deny"}\n{"text": "y", "record": {"a": "approve", "lang": "en"}}'
    )
    run("0.txt", prompt={"examples": "gold.jsonl"})
    assert records()[0]["status"] == "ok"
    (folder / "gold.jsonl").write_text('{"text": "x", "value": "other"}')
    with pytest.raises(Exception, match="'other' is none of the labels"):
        run("0.txt", prompt={"examples": "gold.jsonl"})


def test_the_prompt_does_not_list_the_labels_unless_a_template_does(folder: Path) -> None:
    (folder / "p.j2").write_text("{{ choices | join(', ') }} Message: {{ document }}")
    run("0.txt")
    short = records()[0]["meta"]["prompt_tokens"]
    run("0.txt", prompt={"file": "p.j2", "system": "You label messages."})
    assert records()[0]["value"] == "approve"
    assert records()[0]["meta"]["prompt_tokens"] != short
