"""Lists of ten thousand labels: exactly those, whatever they share."""

from __future__ import annotations

import random

from constrain import MaskCache, Matcher, compile_choices
from pipelines.config import ConstraintConfig
from pipelines.constraint import load_constraint
from tests.conformance.vocabularies import BYTES


def _labels() -> list[str]:
    """Return labels with long common prefixes, in several scripts, many a prefix of another."""
    stems = ["category/électronique/", "category/electronics/", "日本語の分類・", "x", "😀😁"]
    return [f"{stems[i % 5]}{i // 5}" for i in range(10_000)]


def test_ten_thousand_labels_are_taken_and_nothing_else() -> None:
    labels = _labels()
    known = set(labels)
    compiled = compile_choices(labels, BYTES)
    assert len(compiled.automaton.is_return) < 30_000  # prefixes are shared
    masks = MaskCache(compiled)

    def is_taken(text: str) -> bool:
        matcher = Matcher(compiled, masks)
        return matcher.accept_bytes(text.encode()) and matcher.is_accepting()

    assert all(map(is_taken, labels))
    chosen = random.Random(0)
    for label in chosen.sample(labels, 500):
        for other in (label[:-1], label + "0", label[1:], label.upper(), label + " "):
            assert is_taken(other) == (other in known)


def test_a_file_of_labels_is_a_constraint_and_its_prompt_stays_short(tmp_path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("\n".join(_labels()), encoding="utf-8")
    constraint = load_constraint(ConstraintConfig(choices_file=str(path)))
    assert constraint.faults("x17") == []
    assert constraint.faults("x17 ")
    assert len(constraint.instruction) < 200
