"""Tests of pipelines.schemas."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pipelines.errors import ConfigError
from pipelines.schemas import load_schema

__all__: list[str] = []

MODEL = '''
from __future__ import annotations
from typing import Literal
from pydantic import BaseModel, Field, field_validator
import neighbour

class Part(BaseModel):
    name: str

class Order(BaseModel):
    """An order."""
    zip: str = Field(pattern=neighbour.ZIP, description="Where to")
    parts: list[Part]
    kind: Literal["a", "b"] = "a"

    @field_validator("zip")
    @classmethod
    def known(cls, value):
        if value == "00000":
            raise ValueError("this place does not exist")
        return value

PLAIN = {"type": "integer"}

def helper(): ...
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "orders.py").write_text(MODEL)
    (tmp_path / "neighbour.py").write_text('ZIP = "^[0-9]{5}$"')
    (tmp_path / "broken.py").write_text("x = 1 / 0")
    (tmp_path / "s.json").write_text('{"type": "object", "properties": {"b": {}, "a": {}}}')
    (tmp_path / "s.yaml").write_text("type: object\nproperties:\n  b: {}\n  a: {}\n")
    (tmp_path / "bad.json").write_text('{\n "type": "object",\n}')
    (tmp_path / "bad.yaml").write_text("type: [object")
    (tmp_path / "latin.json").write_bytes(b'{"title": "\xe9"}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("orders", "neighbour", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.parametrize("spec", ["s.json", "s.yaml", '{"properties": {"b": {}, "a": {}}}'])
def test_properties_keep_the_order_they_are_written_in(spec: str) -> None:
    schema = load_schema(spec).schema
    assert isinstance(schema, dict)
    assert list(schema["properties"]) == ["b", "a"]


@pytest.mark.parametrize("spec", ["orders.py:Order", "orders:Order"])
def test_a_pydantic_model_gives_its_schema_and_its_validation(spec: str) -> None:
    loaded = load_schema(spec)
    assert isinstance(loaded.schema, dict)
    assert list(loaded.schema["properties"]) == ["zip", "parts", "kind"]
    assert loaded.adapter is not None
    assert loaded.adapter.validate_python({"zip": "12345", "parts": []}).kind == "a"


def test_a_dictionary_in_python_is_a_schema() -> None:
    assert load_schema("orders.py:PLAIN").schema == {"type": "integer"}


def test_booleans_are_schemas() -> None:
    assert load_schema("true").schema is True


def test_loading_a_file_hides_no_module(folder: Path) -> None:
    (folder / "json.py").write_text("from pydantic import BaseModel\nclass M(BaseModel): x: int")
    import json

    load_schema("json.py:M")
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no.json", "no.json: no such schema file; give a .json or .yaml file, inline JSON"),
        ("bad.json", "bad.json, line 3, column 1: not JSON: expecting property name"),
        ("bad.yaml", "bad.yaml: not usable YAML: line 1"),
        ("latin.json", "latin.json: byte 11 is not UTF-8; save it as UTF-8"),
        ('{"type": 1', "inline schema, line 1, column 11: not JSON"),
        ('{"a": 1, "a": 2}', "inline schema: not JSON: the key 'a' is given twice"),
        ("orders.py", "orders.py: a Python file is not a schema; name the model"),
        ("orders.py:Nope", "there is no 'Nope' in orders.py; it has Part, Order"),
        ("orders.py:helper", "orders.py:helper: is a function, no model"),
        ("gone.py:Order", "gone.py:Order: no such file; check the path before the colon"),
        ("no_such_module:M", "no_such_module cannot be imported (ModuleNotFoundError"),
        ("broken.py:M", "broken.py cannot be imported (ZeroDivisionError: division by zero)"),
    ],
)
def test_what_is_no_schema_is_said_with_its_place(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_schema(spec)
