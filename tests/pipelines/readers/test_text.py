"""Tests of pipelines.readers.text."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.config import InputConfig
from pipelines.documents import Document, Unread
from pipelines.readers import text
from pipelines.sources import Source

__all__: list[str] = []


def read(path: Path, max_bytes: int = 1000) -> Document | Unread:
    config = InputConfig(paths=(str(path),), max_bytes=max_bytes)
    [document] = text.read(Source("docs/a.txt", path, "text"), config)
    return document


def test_a_file_is_one_document_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    document = read(path)
    assert isinstance(document, Document)
    assert (document.id, document.text, document.meta) == ("docs/a.txt", "one\ntwo", {})


def test_an_encoding_that_is_not_utf8_stands_in_meta(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("né", encoding="utf-16")
    document = read(path)
    assert isinstance(document, Document)
    assert document.meta == {"encoding": "utf-16"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "docs/a.txt: the document is empty"),
        (b"%PDF-1.4", "docs/a.txt: the file is a PDF, not text"),
        (b"x" * 1001, "docs/a.txt: the file holds more than 1,000 bytes; split it"),
    ],
)
def test_a_bad_file_is_unread(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    document = read(path)
    assert isinstance(document, Unread)
    assert str(document.error).startswith(reason)


def test_a_file_that_vanished_is_unread(tmp_path: Path) -> None:
    document = read(tmp_path / "gone.txt")
    assert isinstance(document, Unread)
    assert "cannot be read (No such file or directory)" in str(document.error)
