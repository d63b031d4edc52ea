"""Tests of pipelines.readers.parquet."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.config import InputConfig
from pipelines.documents import Document, Unread
from pipelines.errors import InputError
from pipelines.readers import parquet
from pipelines.sources import Source

__all__: list[str] = []


def read(path: Path, **options: Any) -> list[Document | Unread]:
    source = Source("in.parquet", path, "parquet")
    config = InputConfig(paths=("in.parquet",), **options)
    documents = list(parquet.read(source, config))
    assert [o.id for o in parquet.origins(source, config)] == [d.id for d in documents]
    return documents


def written(folder: Path, columns: dict[str, Any], group: int = 2) -> Path:
    path = folder / "in.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=group)
    return path


def test_each_row_is_a_document(tmp_path: Path) -> None:
    path = written(tmp_path, {"text": ["a", "b", None], "id": ["x", None, "z"]})
    found = read(path)
    assert [item.id for item in found] == ["x", "in.parquet:2", "z"]
    assert isinstance(found[0], Document)
    assert isinstance(found[2], Unread)
    assert str(found[2].error) == "in.parquet, row 3: the field 'text' holds null, not text"


def test_rows_without_an_id_column_have_file_and_row(tmp_path: Path) -> None:
    found = read(written(tmp_path, {"body": ["a", "b", "c"]}), text_column="body")
    assert [item.id for item in found] == ["in.parquet:1", "in.parquet:2", "in.parquet:3"]


def test_kept_columns_become_json(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {
            "text": ["a"],
            "price": pa.array([Decimal("1.50")], pa.decimal128(9, 2)),
            "when": pa.array([datetime(2024, 1, 2, tzinfo=UTC)], pa.timestamp("us", tz="UTC")),
            "tags": [["x", "y"]],
            "kind": pa.array(["k"]).dictionary_encode(),
        },
    )
    [item] = read(path, keep=("price", "when", "tags", "kind"))
    assert item.keep == {
        "price": "1.50",
        "when": "2024-01-02T00:00:00+00:00",
        "tags": ["x", "y"],
        "kind": "k",
    }


def test_a_time_that_python_cannot_hold_becomes_text(tmp_path: Path) -> None:
    far = pa.array([2**62], pa.timestamp("us"))
    [item] = read(written(tmp_path, {"text": ["a"], "when": far}), keep=("when",))
    assert isinstance(item.keep["when"], str)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text_column": "txt"}, "there is no column 'txt'; the file has 'text', 'n'; choose"),
        ({"text_column": "n"}, "the column 'n' holds int64, not text"),
        ({"keep": ("k",)}, "there is no column 'k'; the file has 'text', 'n'; choose one with"),
    ],
)
def test_a_column_that_is_not_there_is_a_usage_error(
    tmp_path: Path, options: Any, message: str
) -> None:
    path = written(tmp_path, {"text": ["a"], "n": [1]})
    config = InputConfig(paths=("in.parquet",), **options)
    with pytest.raises(InputError, match=message):
        list(parquet.origins(Source("in.parquet", path, "parquet"), config))


def test_a_damaged_file_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    path.write_bytes(b"PAR1 no parquet PAR1")
    [item] = read(path)
    assert isinstance(item, Unread)
    assert "the Parquet file cannot be read" in str(item.error)


def test_damage_behind_good_rows_leaves_them_readable(tmp_path: Path) -> None:
    path = written(tmp_path, {"text": [f"{n}" * 1000 for n in range(4)]})
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).dictionary_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(data)
    source, config = Source("in.parquet", path, "parquet"), InputConfig(paths=("in.parquet",))
    kinds = [type(item) for item in parquet.read(source, config)]
    assert kinds == [Document, Document, Unread]


def test_a_row_group_that_unfolds_without_end_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.readers.parquet._MAX_GROUP_BYTES", 1000)
    path = written(tmp_path, {"text": [f"{n}" * 100 for n in range(50)]}, group=50)
    source, config = Source("in.parquet", path, "parquet"), InputConfig(paths=("in.parquet",))
    [item] = parquet.read(source, config)
    assert isinstance(item, Unread)
    assert "at most 1,000 are read" in str(item.error)
