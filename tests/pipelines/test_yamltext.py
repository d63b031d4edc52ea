"""Tests of pipelines.yamltext."""

from __future__ import annotations

import pytest

from pipelines.yamltext import YamlError, loads_yaml

__all__: list[str] = []


def test_only_true_and_false_are_booleans_and_dates_stay_text() -> None:
    text = "[yes, no, on, true, False, ~, '', 1, -2.5, 1e3, 2020-01-01, 0x1F, 1_000]"
    expected = ["yes", "no", "on", True, False, None, "", 1, -2.5, 1000.0, "2020-01-01"]
    assert loads_yaml(text) == [*expected, "0x1F", "1_000"]


def test_keys_keep_their_order_and_aliases_are_copied() -> None:
    text = "b: &x {k: 1}\na:\n  <<: *x\n  l: 2\n"
    assert loads_yaml(text) == {"b": {"k": 1}, "a": {"k": 1, "l": 2}}
    assert list(loads_yaml(text)) == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("a: 1\nb: 2\na: 3", "line 3, column 1: the key 'a' is given twice"),
        ("1: x", "line 1, column 1: the key 1 is not text; quote it"),
        ("a: [1", "line 1, column 6"),
        ("a: &x [*x]", "are its aliases in a circle"),
        ("!!python/object:os.system {}", "could not determine a constructor"),
        ("!!timestamp 2020-01-01", "date values are not JSON"),
        ("a: !!float .inf", "inf is not a JSON number"),
        ("a: 1\n---\nb: 2", "line 2"),
    ],
)
def test_what_is_not_json_in_yaml_is_refused(text: str, fact: str) -> None:
    with pytest.raises(YamlError, match=fact):
        loads_yaml(text)
