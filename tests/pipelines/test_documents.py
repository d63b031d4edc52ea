"""Tests of pipelines.documents."""

from __future__ import annotations

import pytest

from pipelines.documents import Document, Origin, Unread, document_from_text

__all__: list[str] = []

HERE = Origin("a", "a.txt")


def read(text: str) -> Document:
    document = document_from_text(HERE, text)
    assert isinstance(document, Document)
    return document


def test_a_nul_is_read_as_a_space_and_told() -> None:
    document = read("Invoice\x0012\0\0 Total 5")
    assert document.text == "Invoice 12   Total 5"
    assert document.meta["warnings"] == ["3 NUL characters were read as spaces"]


def test_a_lone_surrogate_is_replaced_and_told() -> None:
    document = read("a\ud83db")
    assert document.text == "a\ufffdb"
    assert document.meta["warnings"] == ["1 lone surrogates were read as U+FFFD"]


def test_a_good_text_stays_as_it_is() -> None:
    document = read("x\u2028y")
    assert document.text == "x\u2028y"
    assert document.meta == {}


@pytest.mark.parametrize(
    ("text", "fact"), [("", "is empty"), (" \n\t\n", "holds only white space"), ("\0", "white")]
)
def test_a_blank_text_is_an_unread_document(text: str, fact: str) -> None:
    document = document_from_text(HERE, text, keep={"k": 1})
    assert isinstance(document, Unread)
    assert fact in document.error.fact
    assert document.error.stage == "read"
    assert document.keep == {"k": 1}
