"""Tests of pipelines.encodings."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.encodings import decode_text
from pipelines.errors import DocumentError

__all__: list[str] = []

FRENCH = (
    "Le contrat a été signé à Genève après de longues négociations. Les deux parties se sont "
    "engagées à préserver la qualité des forêts voisines, où l'on élève des chèvres."
)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1))
def test_utf8_comes_back_as_it_is(text: str) -> None:
    if text.startswith("\ufeff") or text.encode().startswith((b"PK", b"GIF8", b"PAR1", b"%PDF-")):
        return
    assert decode_text(text.encode(), "f").text == text


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_a_byte_order_mark_decides_and_is_dropped(mark: bytes, codec: str) -> None:
    assert decode_text(mark + "né €".encode(codec), "f").text == "né €"


def test_an_encoding_that_is_given_is_taken() -> None:
    decoded = decode_text(b"Caf\xe9 \x96 10 \x80", "f", "cp1252")
    assert decoded.text == "Café – 10 €"
    assert decoded.warning is None


def test_an_encoding_that_is_given_is_taken_alone() -> None:
    with pytest.raises(DocumentError, match=r"byte 3 \(0xe9\) is not ascii"):
        decode_text(b"Caf\xe9", "f", "ascii")


def test_another_encoding_is_detected_and_told() -> None:
    decoded = decode_text(FRENCH.encode("cp1252"), "f")
    assert decoded.text == FRENCH
    assert decoded.encoding == "cp1252"
    assert "not UTF-8" in str(decoded.warning)


def test_too_little_to_detect_from_is_an_error_that_names_the_byte() -> None:
    with pytest.raises(DocumentError) as caught:
        decode_text(b"Caf\xe9 \x96 10 \x80", "win.txt")
    assert str(caught.value) == (
        "win.txt: byte 3 (0xe9) is not utf-8; "
        "no other encoding could be told from its bytes; name it with --encoding"
    )


def test_damaged_utf8_is_not_taken_for_another_encoding() -> None:
    with pytest.raises(DocumentError, match="the file is damaged"):
        decode_text(FRENCH.encode() + b"\xff", "f")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"%PDF-1.7\n...", "a PDF"),
        (b"PK\x03\x04....", "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n", "a PNG"),
        (bytes(range(256)) * 4, "binary data"),
        (b"\x00\x01\x02\x03", "binary data"),
    ],
)
def test_binary_data_is_named(data: bytes, name: str) -> None:
    with pytest.raises(DocumentError, match=f"the file is {name}"):
        decode_text(data, "f")


def test_line_ends_become_line_feeds() -> None:
    assert decode_text(b"a\r\nb\rc\n", "f").text == "a\nb\nc\n"


def test_only_line_ends_of_old_are_line_ends() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be"
    assert decode_text(text.encode(), "f").text == text
