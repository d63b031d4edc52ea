"""Tests of pipelines.own_schemas, and of runs in which rows bring their schemas."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from constrain.errors import LimitExceeded
from constrain.schema import SchemaOptions
from constrain.vocabulary import Vocabulary
from pipelines.config import ExtractConfig, build_config
from pipelines.constraint import SchemaConstraint
from pipelines.documents import Document, Origin, Unread
from pipelines.errors import ConfigError, DocumentError, InputError
from pipelines.extract import extract
from pipelines.own_schemas import OwnSchemas
from pipelines.stats import read_stats
from pipelines.summary import RunSummary
from tests.pipelines.stand_in import Watcher, read_lines, stand_in, use_model

__all__: list[str] = []


def record_of(**fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


NAME = record_of(name={"type": "string", "maxLength": 20})
COUNT = record_of(count={"type": "integer", "minimum": 0, "maximum": 99}, name={"type": "null"})
LIST = {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "maxItems": 3}
DOUBLED = {"type": "array", "items": {"type": "integer"}, "not": {"uniqueItems": True}}
"""Some item stands twice: what the mask cannot ask for."""
ANSWERS = {
    "Alpha": '{"name": "Alpha"}',
    "Beta": '{"count": 7, "name": null}',
    "Ateb": '{"name": null, "count": 7}',
    "Gamma": '["a", "b"]',
    "Delta": "[10, 20]",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every schema that is compiled, in order."""
    found: list[Any] = []
    compile_ = SchemaConstraint.compile

    def noted(self: SchemaConstraint, vocabulary: Vocabulary, *rest: Any) -> Any:
        found.append(self.loaded.schema)
        return compile_(self, vocabulary, *rest)

    monkeypatch.setattr(SchemaConstraint, "compile", noted)
    return found


class Runner:
    """Runs `extract` over rows of (text, schema)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.watcher = Watcher()

    def __call__(self, *rows: tuple[str, Any], context: int = 4096, **groups: Any) -> RunSummary:
        lines = [json.dumps({"text": text, "schema": schema}) for text, schema in rows]
        Path("in.jsonl").write_text("\n".join(lines), encoding="utf-8")
        return self.over("in.jsonl", context=context, **groups)

    def over(self, path: str, *, context: int = 4096, **groups: Any) -> RunSummary:
        answer: Callable[[str], str] = lambda text: ANSWERS.get(text.split()[0], "null")  # noqa: E731
        use_model(self._monkeypatch, stand_in(answer, context_length=context))
        values = {
            "inputs": {"paths": [path]},
            "constraint": {"schema_field": "schema", **groups.pop("constraint", {})},
            "decoding": {"max_new_tokens": 60},
            "output": {"path": "out.jsonl", "overwrite": True},
            **groups,
        }
        return extract(build_config(ExtractConfig, values), self.watcher)

    @property
    def records(self) -> list[dict[str, Any]]:
        return read_lines(Path("out.jsonl"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(monkeypatch)


@pytest.mark.parametrize("batch_size", [1, 2, 8])
def test_each_document_satisfies_its_own_schema_in_input_order(
    run: Runner, batch_size: int
) -> None:
    rows = [("Alpha Ltd", NAME), ("Beta", COUNT), ("Gamma & Co", LIST), ("Alpha", NAME)]
    summary = run(*rows, decoding={"max_new_tokens": 60, "batch_size": batch_size})
    assert (summary.ok, summary.documents) == (4, 4)
    assert [r["id"] for r in run.records] == [f"in.jsonl:{n}" for n in (1, 2, 3, 4)]
    assert [r["value"] for r in run.records] == [
        {"name": "Alpha"},
        {"count": 7, "name": None},
        ["a", "b"],
        {"name": "Alpha"},
    ]
    for record, (_, schema) in zip(run.records, rows, strict=True):
        jsonschema.validate(record["value"], schema)
    assert set(run.records[1]["meta"]["logprobs"]) == {"count", "name"}


def test_the_model_is_told_the_fields_of_the_documents_own_schema(
    run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.prompts import Prompter

    told: list[str] = []
    make = Prompter.__init__

    def noted(self: Prompter, task: Any, template: Any = None) -> None:
        told.append(task.system)
        make(self, task, template)

    monkeypatch.setattr(Prompter, "__init__", noted)
    run(("Alpha", NAME), ("Beta", COUNT), ("Alpha", NAME))
    assert ["- name (text)" in t for t in told] == [True, False]
    assert ["- count (whole number from 0 to 99)" in t for t in told] == [False, True]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (None, "the document has no schema here; give it one, or give --schema"),
        (5, "this is no schema; write a schema as a JSON object, or as the text of one"),
        ("[1]", "this is no schema"),
        ('{"type": ', "not JSON: line 1, column 10: expecting value"),
        ({"type": "strin"}, "at #/type: "),
        ({"properties": {"a": {"$ref": "http://x.org/a"}}}, "at #/properties/a"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "no value satisfies"),
        (False, "no value satisfies"),
        ('{"not": ' * 3000 + "true" + "}" * 3000, "nested too deeply"),
    ],
)
def test_a_bad_schema_is_the_error_of_its_document_alone(
    run: Runner, schema: Any, reason: str
) -> None:
    summary = run(("Alpha", NAME), ("Beta", schema), ("Gamma", LIST))
    assert (summary.ok, summary.error) == (2, 1)
    assert [r["status"] for r in run.records] == ["ok", "error", "ok"]
    [error] = run.records[1]["errors"]
    assert error["stage"] == "schema"
    assert error["reason"].startswith("in.jsonl, line 2, field 'schema': ")
    assert reason in error["reason"]
    stats = json.loads(Path("out.stats.json").read_text())
    assert stats["run"]["errors_by_stage"] == {"schema": 1}


def test_a_run_of_bad_schemas_alone_ends_well(run: Runner) -> None:
    assert run(("Alpha", 1), ("Beta", {"type": 1})).error == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (LimitExceeded("states", given=2, allowed=1), "only 1 are allowed"),
        (RuntimeError("out of luck"), "the schema cannot be used (RuntimeError: out of luck)"),
    ],
)
def test_what_a_compile_raises_reaches_its_document(
    run: Runner, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    compile_ = SchemaConstraint.compile

    def faulty(self: SchemaConstraint, vocabulary: Vocabulary, *rest: Any) -> Any:
        if self.loaded.schema == COUNT:
            raise error
        return compile_(self, vocabulary, *rest)

    monkeypatch.setattr(SchemaConstraint, "compile", faulty)
    run(("Beta", COUNT), ("Alpha", NAME), ("Beta", COUNT))
    assert [r["status"] for r in run.records] == ["error", "ok", "error"]
    for record in (run.records[0], run.records[2]):
        assert reason in record["errors"][0]["reason"]
    assert "line 3" in run.records[2]["errors"][0]["reason"]


def test_equal_schemas_are_compiled_once_however_they_are_written(
    run: Runner, compiled: list[Any]
) -> None:
    run(("Alpha", NAME), ("Beta", COUNT), ("Alpha", json.dumps(NAME, indent=2)), ("Alpha", NAME))
    assert compiled == [NAME, COUNT]


def test_the_order_of_properties_makes_another_schema(run: Runner, compiled: list[Any]) -> None:
    turned = {**COUNT, "properties": dict(reversed(COUNT["properties"].items()))}
    run(("Beta", COUNT), ("Ateb", turned))
    assert len(compiled) == 2
    assert [list(r["value"]) for r in run.records] == [["count", "name"], ["name", "count"]]


def test_rows_without_a_schema_fall_back_on_the_common_one(run: Runner) -> None:
    common = {"schema": json.dumps(LIST)}
    run(("Alpha", NAME), ("Gamma", None), ("Gamma", 3), constraint=common)
    assert [r["status"] for r in run.records] == ["ok", "ok", "error"]
    assert [r["value"] for r in run.records] == [{"name": "Alpha"}, ["a", "b"], None]
    assert run.watcher.warnings == []


def test_a_field_that_no_row_has_is_told(run: Runner) -> None:
    common = {"schema": json.dumps(LIST), "schema_field": "shcema"}
    assert run(("Gamma", NAME), constraint=common).ok == 1
    assert "no document has a schema of its own in the field 'shcema'" in run.watcher.warnings


def test_a_keyword_that_is_checked_afterwards_is_judged_by_its_own_schema(run: Runner) -> None:
    summary = run(("Delta", DOUBLED), ("Delta", {"type": "array"}), ("Delta", DOUBLED))
    assert [r["status"] for r in run.records] == ["invalid", "ok", "invalid"]
    assert summary.warnings == ("in schemas of documents, 'not' is only checked afterwards",)


def test_strict_refuses_such_a_schema_for_its_documents(run: Runner) -> None:
    run(("Delta", DOUBLED), ("Alpha", NAME), constraint={"strict": True})
    assert [r["status"] for r in run.records] == ["error", "ok"]
    assert "'not'" in run.records[0]["errors"][0]["reason"]


def test_a_schema_too_long_for_the_context_is_its_documents_error(run: Runner) -> None:
    long = record_of(**{f"field_{i}": {"type": "null"} for i in range(100)})
    run(("Alpha", long), ("Alpha", NAME), context=800)
    assert [r["status"] for r in run.records] == ["error", "ok"]
    assert "the prompt takes" in run.records[0]["errors"][0]["reason"]


def test_a_template_shows_each_document_its_schema(run: Runner) -> None:
    Path("p.txt").write_text("{{ document }} {{ schema.title }}", encoding="utf-8")
    run(("Alpha", {**NAME, "title": "T"}), ("Alpha", NAME), prompt={"file": "p.txt"})
    assert [r["status"] for r in run.records] == ["ok", "error"]
    assert "the prompt cannot be made" in run.records[1]["errors"][0]["reason"]
    Path("p.txt").write_text("{{ document }} {{ shcema }}", encoding="utf-8")
    with pytest.raises(ConfigError, match="'shcema', which is not known"):
        run(("Alpha", NAME), prompt={"file": "p.txt"})


def test_kept_columns_are_carried_beside_the_schema(run: Runner) -> None:
    row = {"text": "Alpha", "schema": NAME, "lang": "de"}
    Path("rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    run.over("rows.jsonl", inputs={"paths": ["rows.jsonl"], "keep": ["lang"]})
    assert run.records[0]["keep"] == {"lang": "de"}


def test_parquet_brings_schemas_as_text_and_takes_values_as_json(run: Runner) -> None:
    schemas = [json.dumps(NAME), None, json.dumps(LIST)]
    pq.write_table(pa.table({"text": ["Alpha", "Beta", "Gamma"], "schema": schemas}), "in.parquet")
    run.over("in.parquet", output={"path": "out.parquet"})
    table = pq.read_table("out.parquet")
    assert table.column("status").to_pylist() == ["ok", "error", "ok"]
    values = table.column("value").to_pylist()
    assert [json.loads(v) if v else v for v in values] == [{"name": "Alpha"}, None, ["a", "b"]]
    assert [field.name for field in read_stats(Path("out.parquet")).fields] == ["name", ".", "[]"]


def test_a_parquet_column_of_structs_holds_no_schemas() -> None:
    pq.write_table(pa.table({"text": ["a"], "schema": [{"type": "null"}]}), "in.parquet")
    config = {"inputs": {"paths": ["in.parquet"]}, "constraint": {"schema_field": "schema"}}
    with pytest.raises(InputError, match="'schema' holds struct<type: string>, not schemas"):
        extract(build_config(ExtractConfig, config), Watcher())


def test_fields_of_one_name_and_many_types_are_one_field_of_the_statistics(run: Runner) -> None:
    summary = run(("Alpha", NAME), ("Beta", COUNT), ("Alpha", NAME))
    fields = {field.name: field for field in summary.fields}
    assert list(fields) == ["name", "count"]
    assert (fields["name"].present, fields["name"].null, fields["name"].rows) == (3, 1, 3)
    assert dict(fields["name"].types) == {"string": 2, "null": 1}
    assert (fields["count"].present, fields["count"].low) == (1, 7)


BYTES = Vocabulary.of([*(bytes([b]) for b in range(256)), None], [256])


def documents(*schemas: Any) -> list[Document | Unread]:
    return [Document(Origin(str(i), f"row {i}"), "x", schema=s) for i, s in enumerate(schemas)]


def test_schemas_are_compiled_in_one_other_thread_a_bounded_way_ahead() -> None:
    gate, threads, read = threading.Event(), set(), []

    def reading() -> Iterator[Document | Unread]:
        for document in documents(*({"const": i} for i in range(50))):
            read.append(document)
            yield document

    def make(constraint: SchemaConstraint, compiled: Any) -> Any:
        return constraint.loaded.schema, threading.current_thread()

    own = OwnSchemas("schema", SchemaOptions(), BYTES, make)
    compile_ = SchemaConstraint.compile

    def waiting(self: SchemaConstraint, vocabulary: Vocabulary, *rest: Any) -> Any:
        gate.wait(10)
        threads.add(threading.current_thread())
        return compile_(self, vocabulary, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SchemaConstraint, "compile", waiting)
        patch.setattr("constrain.store.default_store", lambda: None)
        with closing(own.ahead(reading(), 4)) as ahead:
            _, first = next(ahead)
            assert len(read) == 5
            gate.set()
            assert first() == ({"const": 0}, threading.current_thread())
            assert [choice()[0]["const"] for _, choice in ahead] == list(range(1, 50))
    assert len(threads) == 1
    assert threading.current_thread() not in threads
    assert own.seen


def test_a_document_that_could_not_be_read_stays_in_its_place() -> None:
    unread = Unread(Origin("u", "row u"), DocumentError("is empty", stage="read"))
    own = OwnSchemas("schema", SchemaOptions(), BYTES, lambda _schema, compiled: compiled)
    with closing(own.ahead([unread, *documents(None)], 8)) as ahead:
        assert [document.id for document, _ in ahead] == ["u", "0"]


@pytest.mark.parametrize(
    ("values", "fact"),
    [
        ({"constraint": {"regex": "a"}}, "schema_field goes with schema alone"),
        ({"constraint": {"choices": ["a"]}}, "schema_field goes with schema alone"),
        ({"constraint": {"grammar": "a"}}, "schema_field goes with schema alone"),
        ({"constraint": {"tools": "a"}}, "schema_field goes with schema alone"),
        ({"constraint": {"tags": "a"}}, "schema_field goes with schema alone"),
        ({"prompt": {"examples": "gold.jsonl"}}, "examples are answers to one schema"),
        ({"constraint": {"schema_field": ""}}, "at least 1 character"),
    ],
)
def test_what_does_not_go_with_schemas_of_rows_is_refused(
    run: Runner, values: dict[str, Any], fact: str
) -> None:
    with pytest.raises(ConfigError, match=fact):
        run(("Alpha", NAME), **values)
