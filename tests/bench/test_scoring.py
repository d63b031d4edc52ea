"""The comparison with golden records follows the golden sets' README."""

from __future__ import annotations

import pytest

from tests.bench.scoring import FieldCounts, accuracy, count_fields, majority, micro, same


@pytest.mark.parametrize(
    ("left", "right", "agree"),
    [
        ("Biol. Cell", "biol cell", True),
        ("131–144", "131-144", True),
        ("131-144", "131-145", False),
        (20.0, 20.004, True),
        (20, 20.01, False),
        (["b", "A."], ["a", "B"], True),
        (["a"], ["a", "b"], False),
        (None, None, True),
        (None, "", False),
        (True, 1, False),
        ({"a": "X"}, {"a": "x."}, True),
    ],
)
def test_values_are_compared_by_the_golden_rules(left, right, agree: bool) -> None:
    assert same(left, right) is agree


def test_a_wrong_value_counts_as_wrong_and_as_missed() -> None:
    found = {"a": "x", "b": None, "c": "z", "d": None}
    golden = {"a": "y", "b": "y", "c": None, "d": None}
    assert count_fields(found, golden, {}) == {
        "a": FieldCounts(wrong=1, missed=1),
        "b": FieldCounts(missed=1),
        "c": FieldCounts(wrong=1),
        "d": FieldCounts(),
    }


def test_other_accepted_forms_are_right() -> None:
    assert count_fields({"a": "St."}, {"a": "Saint"}, {"a": ["st"]}) == {"a": FieldCounts(right=1)}


def test_a_document_without_a_record_misses_its_fields() -> None:
    assert count_fields(None, {"a": 1, "b": None}, {}) == {
        "a": FieldCounts(missed=1),
        "b": FieldCounts(),
    }


def test_micro_f1_sums_over_documents_and_fields() -> None:
    documents = [{"a": FieldCounts(right=1)}, {"a": FieldCounts(wrong=1, missed=1)}]
    total, fields = micro(documents)
    assert total == fields["a"] == FieldCounts(1, 1, 1)
    assert total.f1 == pytest.approx(0.5)


def test_accuracy_and_the_majority_baseline() -> None:
    assert accuracy(["a", "b"], ["a", "a"]) == 0.5
    assert majority(["a", "b", "a", "c"]) == 0.5
