"""The messy text, JSONL and Parquet files give what their index says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.config import InputConfig
from pipelines.documents import Document, Unread
from pipelines.readers import read_documents
from pipelines.sources import open_sources

__all__: list[str] = []

MESSY = Path(__file__).resolve().parents[4] / "shared" / "data" / "messy"
pytestmark = pytest.mark.skipif(not MESSY.is_dir(), reason=f"no messy files at {MESSY}")


def read(name: str, **options: Any) -> list[Document | Unread]:
    config = InputConfig(paths=(str(MESSY / name),), **options)
    with open_sources(config) as sources:
        return list(read_documents(sources.files, config))


@pytest.mark.parametrize(
    ("name", "start", "encoding"),
    [
        ("chinese-big5.txt", "維基大典", "big5"),
        ("hebrew-cp1255.txt", "אין כמעט", "cp1255"),
        ("turkish-cp1254.txt", "İstanbul, Türkiye'nin", "cp1254"),
        ("korean-euckr.txt", "역사적 예수", "cp949"),
        ("french-cp1252.txt", "JEAN-BAPTISTE POQUELIN MOLIÈRE", "cp1252"),
        ("french-utf16le-bom.txt", "JEAN-BAPTISTE POQUELIN MOLIÈRE", "utf-16"),
        ("english-utf8-bom.txt", "1\n00:00", None),
        ("mojibake-double-utf8.txt", "JEAN-BAPTISTE POQUELIN MOLIÃˆRE", None),
    ],
)
def test_text_is_right_and_its_encoding_reported(
    name: str, start: str, encoding: str | None
) -> None:
    [document] = read(f"text/{name}")
    assert isinstance(document, Document)
    assert document.text.startswith(start)
    assert document.meta.get("encoding") == encoding


def test_utf16_holds_the_same_text_as_the_code_page() -> None:
    [one], [other] = read("text/french-cp1252.txt"), read("text/french-utf16le-bom.txt")
    assert isinstance(one, Document)
    assert isinstance(other, Document)
    assert one.text == other.text


def test_good_lines_are_read_and_every_bad_line_is_reported() -> None:
    found = read("jsonl/mixed-good-and-bad.jsonl")
    assert [d.text for d in found if isinstance(d, Document)] == [
        "plain line",
        "no newline problems \u2028 inside",
        "last line, no line end",
    ]
    places = [d.origin.place for d in found if isinstance(d, Unread)]
    assert [int(place.rpartition(" ")[2]) for place in places] == list(range(4, 17))


def test_marks_line_ends_and_empty_texts_of_jsonl() -> None:
    found = read("jsonl/bom-crlf.jsonl")
    assert [d.text for d in found if isinstance(d, Document)] == [
        "Überweisung 12,50 €",
        "line\nbreak",
    ]
    assert len(found) == 3


@pytest.mark.parametrize(
    "name", ["bad-ARROW-GH-45185", "bad-PARQUET-1481", "large_string_map.brotli"]
)
def test_bad_parquet_is_one_clear_error(name: str) -> None:
    [item] = read(f"parquet/{name}.parquet", text_column="x" if "45185" in name else "arr")
    assert isinstance(item, Unread)
    assert item.error.fact


def test_decimals_and_old_timestamps_are_json_able() -> None:
    decimals = read("parquet/byte_array_decimal.parquet", text_column="value", keep=("value",))
    assert len(decimals) == 24
    times = read("parquet/int96_from_spark.parquet", text_column="a", keep=("a",))
    assert [isinstance(item.keep["a"], str | None) for item in times] == [True] * 6
