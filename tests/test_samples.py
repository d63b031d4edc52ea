"""The samples hang together: every set of documents has a schema and answers that satisfy it."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

__all__: list[str] = []

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "sample_data"
SETS = {
    "references": "reference.json",
    "mails": "mail.json",
    "receipts": "receipt.json",
    "invoices": "invoice.json",
}


def schema_of(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((ROOT / "schemas" / SETS[name]).read_text("utf-8"))
    return schema


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def golden_of(name: str) -> list[dict[str, Any]]:
    return rows_of(SAMPLES / "golden" / f"{name}.jsonl")


def validator_of(name: str) -> Draft202012Validator:
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def invoice_models() -> ModuleType:
    spec = importlib.util.spec_from_file_location("invoice", ROOT / "schemas" / "invoice.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_at_least_thirty_documents() -> None:
    assert len(list(SAMPLES.rglob("*.txt"))) >= 30


def test_every_schema_has_a_set_of_documents() -> None:
    assert {path.name for path in (ROOT / "schemas").glob("*.json")} == set(SETS.values())


@pytest.mark.parametrize("name", SETS)
def test_every_document_has_one_golden_answer(name: str) -> None:
    documents = sorted(f"sample_data/{name}/{path.name}" for path in (SAMPLES / name).iterdir())
    assert sorted(row["id"] for row in golden_of(name)) == documents


@pytest.mark.parametrize("name", SETS)
def test_every_golden_answer_satisfies_its_schema(name: str) -> None:
    validator = validator_of(name)
    for row in golden_of(name):
        assert not [
            f"{row['id']}: {error.message}" for error in validator.iter_errors(row["value"])
        ]


@pytest.mark.parametrize("name", SETS)
def test_golden_fields_stand_in_the_order_of_the_schema(name: str) -> None:
    properties = list(schema_of(name)["properties"])
    assert all(list(row["value"]) == properties for row in golden_of(name))


def test_the_examples_satisfy_the_schema_and_are_no_inputs() -> None:
    rows = rows_of(SAMPLES / "examples" / "references.jsonl")
    texts = {path.read_text("utf-8").strip() for path in (SAMPLES / "references").iterdir()}
    assert len(rows) == 3
    assert all(validator_of("references").is_valid(row["value"]) for row in rows)
    assert not texts & {row["text"] for row in rows}


def test_the_examples_of_mails_show_every_queue_once() -> None:
    labels = [row["value"] for row in rows_of(SAMPLES / "examples" / "mails.jsonl")]
    assert sorted(labels) == sorted(schema_of("mails")["properties"]["queue"]["enum"])


def test_a_printed_field_of_a_reference_stands_in_its_document() -> None:
    for row in golden_of("references"):
        text = (ROOT / row["id"]).read_text("utf-8")
        printed = row["value"].items()
        assert not {field for field, value in printed if str(value or "") not in text}


def test_mails_come_in_three_languages_and_every_label_occurs() -> None:
    values = [row["value"] for row in golden_of("mails")]
    properties = schema_of("mails")["properties"]
    for field in properties:
        assert Counter(value[field] for value in values).keys() == set(properties[field]["enum"])


def test_only_refund_requests_have_a_decision() -> None:
    values = [row["value"] for row in golden_of("mails")]
    assert all((value["queue"] == "refund") == (value["decision"] is not None) for value in values)


def test_one_document_is_empty_one_is_latin_1_and_one_holds_two_invoices() -> None:
    assert (SAMPLES / "odd" / "empty.txt").read_bytes() == b""
    with pytest.raises(UnicodeDecodeError):
        (SAMPLES / "mails" / "07-lieferung.txt").read_text("utf-8")
    assert max(len(row["value"]["invoices"]) for row in golden_of("invoices")) == 2


def test_the_pydantic_models_accept_what_the_schema_file_describes() -> None:
    models = invoice_models()
    for row in golden_of("invoices"):
        models.InvoiceFile.model_validate_json(json.dumps(row["value"]))


def test_the_pydantic_model_names_both_sums_when_an_invoice_does_not_add_up() -> None:
    invoice = golden_of("invoices")[0]["value"]["invoices"][0] | {"total": 280.0}
    with pytest.raises(ValidationError, match=r"280\.00, but lines and tax add up to 285\.60"):
        invoice_models().Invoice.model_validate(invoice, strict=False)


def test_the_pydantic_schema_has_the_fields_of_the_schema_file() -> None:
    written = schema_of("invoices")["$defs"]
    derived = invoice_models().InvoiceFile.model_json_schema()["$defs"]
    assert {name: list(part["properties"]) for name, part in written.items()} == {
        name: list(derived[name]["properties"]) for name in written
    }
