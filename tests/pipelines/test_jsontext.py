"""Tests of pipelines.jsontext."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.jsontext import JsonError, dumps_line, jsonable, loads_strict, pointer

__all__: list[str] = []

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@given(VALUES)
def test_a_line_comes_back_and_every_splitter_keeps_it_whole(value: Any) -> None:
    line = dumps_line(value)
    assert line.splitlines() in ([line], [])
    assert json.loads(line.encode()) == value


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' is given twice"),
        ("NaN", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("1e999", "is too large"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "exceeds the limit"),
        ("[1,]", "line 1, column"),
        ('{\n"a" 1}', "line 2, column 5"),
    ],
)
def test_what_is_not_plain_json_is_refused(text: str, fact: str) -> None:
    with pytest.raises(JsonError, match=fact):
        loads_strict(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("12.50"), "12.50"),
        (Decimal(18329103420363166823), 18329103420363166823),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 1, tzinfo=UTC), "2024-02-29T01:00:00+00:00"),
        (timedelta(minutes=1), 60.0),
        (b"caf\xc3\xa9", "café"),
        (b"\xff", "/w=="),
        (float("nan"), "nan"),
        ({"a": [(1, Decimal(2))]}, {"a": [[1, 2]]}),
    ],
)
def test_values_of_data_files_become_json(value: Any, expected: Any) -> None:
    assert jsonable(value) == expected


def test_pointers_escape_what_rfc_6901_says() -> None:
    assert pointer(["a/b", 0, "c~d", ""]) == "/a~1b/0/c~0d/"
