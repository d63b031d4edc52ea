"""Tests of pipelines.examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.documents import Document, Origin
from pipelines.errors import ConfigError
from pipelines.examples import Example, load_examples

__all__: list[str] = []

INPUTS = [Document(Origin(i, i), f"text of {i}") for i in ("docs/a.txt", "docs/b.txt", "c")]


def golden(folder: Path, *rows: Any) -> str:
    path = folder / "gold.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", "utf-8")
    return str(path)


def load(spec: str) -> tuple[Example, ...]:
    return load_examples(spec, lambda v: None if v else "it is nothing", lambda: iter(INPUTS))


def test_rows_give_value_or_record_and_their_text(tmp_path: Path) -> None:
    spec = golden(tmp_path, {"id": 1, "value": [1], "text": "x"}, {"record": [2], "text": "y"})
    found = load(spec)
    assert [(e.document.text, e.value, e.from_inputs) for e in found] == [
        ("x", [1], False),
        ("y", [2], False),
    ]


def test_a_number_takes_the_first_rows(tmp_path: Path) -> None:
    spec = golden(tmp_path, *({"value": n, "text": "t"} for n in (1, 2, 3)))
    assert [e.value for e in load(f"{spec}:2")] == [1, 2]


@pytest.mark.parametrize("name", ["docs/a.txt", "a.txt", "a"])
def test_a_text_is_found_among_the_inputs_by_id_file_name_or_stem(
    tmp_path: Path, name: str
) -> None:
    [example] = load(golden(tmp_path, {"id": name, "value": 1}))
    assert (example.document.text, example.from_inputs) == ("text of docs/a.txt", True)


def test_inputs_are_read_no_further_than_needed(tmp_path: Path) -> None:
    def documents() -> Iterator[Document]:
        yield INPUTS[0]
        raise AssertionError("read on")

    spec = golden(tmp_path, {"id": "a", "value": 1})
    assert len(load_examples(spec, lambda _: None, documents)) == 1


def test_inputs_are_not_read_when_rows_have_texts(tmp_path: Path) -> None:
    def documents() -> Iterator[Document]:
        raise AssertionError("read")

    spec = golden(tmp_path, {"value": 1, "text": "x"})
    assert len(load_examples(spec, lambda _: None, documents)) == 1


def test_other_fields_of_a_row_stand_in_for_kept_columns(tmp_path: Path) -> None:
    [example] = load(golden(tmp_path, {"value": 1, "text": "x", "alt": {}, "lang": "de"}))
    assert example.document.keep == {"lang": "de"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"value": 0, "text": "x"}, "line 1: this example breaks the constraint: it is nothing"),
        ({"id": "zzz", "value": 1}, "line 1: the row has no text, and no input has the id 'zzz'"),
        ({"text": "x"}, "line 1: a golden row is an object with 'value' (or 'record')"),
        ([1], "line 1: a golden row is an object"),
        ({"value": 1, "text": 2}, "line 1: 'text' is no text"),
        ({"value": 1, "text": " "}, "line 1: the document holds only white space"),
    ],
)
def test_a_row_that_is_no_good_is_named(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        load(golden(tmp_path, row))


@pytest.mark.parametrize(
    ("tail", "message"),
    [(":5", "5 examples are asked for, the file has 1"), (":0", "asks for 0 examples")],
)
def test_a_number_that_cannot_be_is_refused(tmp_path: Path, tail: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(golden(tmp_path, {"value": 1, "text": "x"}) + tail)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match="the golden file cannot be read"):
        load("gone.jsonl:3")
