"""Tests of pipelines.spans."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pipelines.spans import value_spans

__all__: list[str] = []

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
SPELLINGS = st.sampled_from([{"indent": 2}, {"separators": (",", ":")}, {}])


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(count, value.values()))
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


@given(JSON, SPELLINGS, st.booleans())
def test_each_span_holds_its_value_and_none_is_missing(
    value: Any, spelling: dict[str, Any], ascii_only: bool
) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only, **spelling).encode()
    spans = value_spans(data)
    assert len(spans) == count(value)
    for span in spans:
        assert json.loads(data[span.start : span.end]) == at(value, span.path)
        assert data[span.start : span.end].strip() == data[span.start : span.end]


def test_outer_values_come_before_inner_ones() -> None:
    paths = [span.path for span in value_spans(b'{"a": [1, {"b": 2}], "c": "x"}')]
    assert paths == [(), ("a",), ("a", 0), ("a", 1), ("a", 1, "b"), ("c",)]
