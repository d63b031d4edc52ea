"""Tests of pipelines.labels."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.config import LabelsConfig
from pipelines.errors import ConfigError
from pipelines.labels import judge, label_tokens, load_labels

__all__: list[str] = []


def test_a_file_holds_one_label_a_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_bytes("\ufeffapprove\r\n\n  très bien \ndeny".encode())
    labels = load_labels(LabelsConfig(choices_file=str(path)))
    assert labels == ("approve", "très bien", "deny")


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"a\nb\na", "the label 'a' comes twice: lines 1 and 3"),
        (b"\n \n", "the file holds no labels; write one a line"),
        (b"\xff", "byte 0 is not UTF-8"),
    ],
)
def test_a_file_without_usable_labels_is_refused(tmp_path: Path, data: bytes, fact: str) -> None:
    path = tmp_path / "labels.txt"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=fact):
        load_labels(LabelsConfig(choices_file=str(path)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.txt: the labels cannot be read"):
        load_labels(LabelsConfig(choices_file=str(tmp_path / "gone.txt")))


def test_labels_end_with_a_token_only_where_one_begins_another() -> None:
    def encode(text: str) -> list[int]:
        return list(text.encode())

    assert label_tokens(["ab", "ac"], encode, 0) == ((97, 98), (97, 99))
    assert label_tokens(["a", "ab"], encode, 0) == ((97, 0), (97, 98, 0))


SCORES = st.lists(st.floats(-500, 0), min_size=1, max_size=8)


@given(SCORES)
def test_probabilities_sum_to_one_and_the_label_has_the_highest(scores: list[float]) -> None:
    labels = [str(n) for n in range(len(scores))]
    verdict = judge(labels, scores, [0.0] * len(scores))
    assert math.isclose(sum(verdict.probabilities), 1)
    best = max(verdict.probabilities)
    assert verdict.probabilities[labels.index(verdict.label)] == best
    assert 0 <= verdict.margin <= 1
    assert verdict.runner_up != verdict.label


def test_what_the_model_would_say_anyway_counts_for_nothing() -> None:
    assert judge(["a", "b"], [-1.0, -3.0], [0.0, 0.0]).label == "a"
    corrected = judge(["a", "b"], [-1.0, -3.0], [-0.5, -6.0])
    assert (corrected.label, corrected.runner_up) == ("b", "a")
    assert corrected.probabilities[1] == pytest.approx(math.exp(3) / (math.exp(3) + math.exp(-0.5)))


def test_a_single_label_has_no_runner_up() -> None:
    verdict = judge(["a"], [-9.0], [-1.0])
    assert (verdict.label, verdict.runner_up, verdict.margin) == ("a", None, 1.0)
