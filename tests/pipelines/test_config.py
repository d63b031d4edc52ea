"""Tests of pipelines.config."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.config import ClassifyConfig, ExtractConfig, OutputConfig, build_config
from pipelines.errors import ConfigError

__all__: list[str] = []

SMALL: dict[str, Any] = {"inputs": {"paths": ["a.txt"]}, "constraint": {"choices": ["x", "y"]}}


def test_defaults_fill_the_groups_that_are_not_given() -> None:
    config = build_config(ExtractConfig, SMALL)
    assert config.model.name == "smollm2-135m"
    assert config.decoding.temperature == 0
    assert config.output.path == "-"


def test_schema_is_accepted_by_the_name_of_its_flag() -> None:
    config = build_config(ExtractConfig, {**SMALL, "constraint": {"schema": "s.json"}})
    assert config.constraint.schema_spec == "s.json"


@pytest.mark.parametrize(
    ("change", "place", "fact"),
    [
        ({"decoding": {"top_q": 1}}, "decoding.top_q", "Extra inputs"),
        ({"decoding": {"batch_size": 0}}, "decoding.batch_size", "greater than or equal to 1"),
        (
            {"constraint": {}},
            "constraint",
            "exactly one of schema, regex, grammar",
        ),
        ({"constraint": {"regex": "a", "schema": "b"}}, "constraint", "exactly one of"),
        ({"constraint": {"regex": "a", "schema_field": "b"}}, "constraint", "with schema alone"),
        ({"constraint": {"choices": ["a", "a"]}}, "constraint", "'a' is given twice"),
        ({"constraint": {"choices": ["a", " "]}}, "constraint", "needs text"),
        ({"inputs": {"paths": []}}, "inputs.paths", "at least 1 item"),
        ({"inputs": {"paths": ["-", "-"]}}, "inputs", "given once"),
        ({"inputs": {"paths": ["a"], "encoding": "klingon"}}, "inputs", "no encoding is called"),
        ({"output": {"path": "out.csv"}}, "output", "end it in .jsonl or .parquet"),
        ({"output": {"path": "o.parquet", "bare": True}}, "output", "JSONL only"),
    ],
)
def test_a_bad_option_is_named(change: dict[str, Any], place: str, fact: str) -> None:
    with pytest.raises(ConfigError, match=fact) as caught:
        build_config(ExtractConfig, {**SMALL, **change})
    assert caught.value.place == place


def test_labels_come_from_one_place() -> None:
    values = {"inputs": {"paths": ["a"]}, "labels": {"choices": ["a"], "choices_file": "f"}}
    with pytest.raises(ConfigError, match="exactly one of choices and choices_file"):
        build_config(ClassifyConfig, values)


@pytest.mark.parametrize(
    ("path", "form"), [("-", "jsonl"), ("a.ndjson", "jsonl"), ("a.PARQUET", "parquet")]
)
def test_the_suffix_says_the_format(path: str, form: str) -> None:
    assert OutputConfig(path=path).format == form
