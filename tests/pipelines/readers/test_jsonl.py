"""Tests of pipelines.readers.jsonl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.config import InputConfig
from pipelines.documents import Document, Unread
from pipelines.errors import InputError
from pipelines.readers import jsonl
from pipelines.sources import Source

__all__: list[str] = []


def read(folder: Path, data: bytes, **options: Any) -> list[Document | Unread]:
    path = folder / "in.jsonl"
    path.write_bytes(data)
    source = Source("in.jsonl", path, "jsonl")
    config = InputConfig(paths=("in.jsonl",), **options)
    documents = list(jsonl.read(source, config))
    assert [o.id for o in jsonl.origins(source, config)] == [d.id for d in documents]
    return documents


def reason(item: Document | Unread) -> str:
    assert isinstance(item, Unread)
    return str(item.error)


def text(item: Document | Unread) -> str:
    assert isinstance(item, Document)
    return item.text


def test_ids_are_the_rows_own_or_file_and_line(tmp_path: Path) -> None:
    data = b'{"id":"a","text":"1"}\n{"id":7,"text":"2"}\n\n{"text":"3"}\n{"id":null,"text":"4"}'
    found = read(tmp_path, data)
    assert [item.id for item in found] == ["a", "7", "in.jsonl:4", "in.jsonl:5"]


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    found = read(tmp_path, '{"text":"a\u2028b\u0085c"}\r\n{"text":"d"}\n'.encode())
    assert [text(item) for item in found] == ["a\u2028b\u0085c", "d"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_understood(tmp_path: Path, encoding: str) -> None:
    found = read(tmp_path, '{"text":"né"}\n{"text":"ö"}\n'.encode(encoding))
    assert [text(item) for item in found] == ["né", "ö"]


def test_an_encoding_that_is_given_is_taken(tmp_path: Path) -> None:
    assert text(read(tmp_path, b'{"text":"Caf\xe9"}', encoding="cp1252")[0]) == "Café"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"{'a': 1}", "in.jsonl, line 2, column 2: not JSON: expecting property name"),
        (b'{"text":"x","text":"y"}', "in.jsonl, line 2: not JSON: the key 'text' is given twice"),
        (b'{"text": NaN}', "in.jsonl, line 2: not JSON: NaN is not JSON"),
        (b'["x"]', "in.jsonl, line 2: the line holds no JSON object"),
        (b'{"text":"\xff"}', "in.jsonl, line 2: byte 9 of the line (0xff) is not utf-8; name the"),
        (b'{"text":5}', "in.jsonl, line 2: the field 'text' holds a number, not text"),
        (b'{"text":null}', "in.jsonl, line 2: the field 'text' holds null, not text"),
        (b'{"body":"x"}', "in.jsonl, line 2: the row has no field 'text'; it has 'body'"),
        (b'{"text":""}', "in.jsonl, line 2: the document is empty"),
        (b'{"id":1.5,"text":"x"}', "in.jsonl, line 2: the id is a number, not a text or a whole"),
        (b'{"text":"' + b"x" * 200 + b'"}', "in.jsonl, line 2: the line holds more than 100 bytes"),
    ],
)
def test_a_bad_line_is_one_error_and_reading_goes_on(
    tmp_path: Path, line: bytes, expected: str
) -> None:
    found = read(tmp_path, b'{"text":"1"}\n' + line + b'\n{"text":"3"}', max_bytes=100)
    assert len(found) == 3
    assert reason(found[1]).startswith(expected)
    assert text(found[2]) == "3"


def test_kept_fields_are_carried_and_null_where_missing(tmp_path: Path) -> None:
    found = read(tmp_path, b'{"text":"1","k":[1]}\n{"text":"2"}', keep=("k",))
    assert [item.keep for item in found] == [{"k": [1]}, {"k": None}]


def test_a_field_that_no_row_has_is_a_usage_error(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"body":"x"}\n{"body":"y"}')
    config = InputConfig(paths=("in.jsonl",), text_field="txt")
    with pytest.raises(InputError, match="no row has the field 'txt'; the first has 'body'"):
        list(jsonl.origins(Source("in.jsonl", path, "jsonl"), config))
