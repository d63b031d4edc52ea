"""Tests of pipelines.answers: what goes wrong with one answer is that document's record."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.decoding.options import Generation
from pipelines.answers import Answers
from pipelines.config import ConstraintConfig
from pipelines.constraint import load_constraint
from pipelines.documents import Document, Origin
from pipelines.records import Record
from pipelines.truncate import Cut
from pipelines.work import Pending
from tests.pipelines.stand_in import ChatTokenizer, stand_in

__all__: list[str] = []

DOCUMENT = Document(Origin("d", "d.txt"), "", {"k": 1}, {"warnings": ["w"]})


def outcome(text: str, cut: Cut | None = None, **changes: Any) -> Record:
    constraint = load_constraint(ConstraintConfig(schema="true"))
    ids = tuple(ChatTokenizer().encode(text))
    figures = (-0.5,) * len(ids), (0.25,) * len(ids)
    values = {"complete": True, "stop": "end", **changes}
    generation = Generation(0, ids, text, logprobs=figures[0], pressures=figures[1],
                            prompt_tokens=9, **values)  # fmt: skip
    answers = Answers(constraint, stand_in(lambda _: ""), 50)
    return answers.outcome(Pending(DOCUMENT, 9, cut, is_example=True), generation).record


def test_a_good_answer_is_a_record_with_its_figures() -> None:
    record = outcome('{"a": [1, "x"]}', Cut(3, 10))
    assert (record.status, record.value, record.keep) == ("ok", {"a": [1, "x"]}, {"k": 1})
    assert record.meta == {
        "model": "stand-in",
        "tokens": record.meta["tokens"],
        "prompt_tokens": 9,
        "logprob": -0.5,
        "pressure": 0.25,
        "logprobs": {"a": -0.5, "a[]": -0.5},
        "pressures": {"a": 0.25, "a[]": 0.25},
        "warnings": ["w"],
        "truncated_input": {"kept_characters": 3, "characters": 10},
        "example": True,
    }


@pytest.mark.parametrize(
    ("text", "changes", "stage", "reason"),
    [
        ('{"a": "x', {"complete": False, "stop": "length"}, "generate", "not finished after 50"),
        ("[1, ", {"complete": False, "stop": "stuck"}, "generate", "no token of this model"),
        ("[" * 1500 + "]" * 1500, {}, "parse", "nested too deeply"),
        ("1e999", {}, "parse", "the number 1e999 is too large"),
        ('{"a": 1, "a": 2}', {}, "parse", "the key 'a' is given twice"),
    ],
)
def test_a_bad_answer_is_an_error_with_its_text(
    text: str, changes: dict[str, Any], stage: str, reason: str
) -> None:
    record = outcome(text, **changes)
    assert (record.status, record.value) == ("error", None)
    assert record.errors[0].stage == stage
    assert reason in record.errors[0].reason
    assert record.meta["partial"] == text


def test_an_answer_that_was_whole_when_its_tokens_ran_out_is_good() -> None:
    assert outcome("12", stop="length").status == "ok"


def test_an_answer_without_tokens_has_no_mean() -> None:
    constraint = load_constraint(ConstraintConfig(regex="a?"))
    generation = Generation(0, (), "", complete=True, stop="end", logprobs=(), pressures=(),
                            prompt_tokens=9)  # fmt: skip
    record = Answers(constraint, stand_in(lambda _: ""), 50).outcome(
        Pending(DOCUMENT, 9), generation
    ).record  # fmt: skip
    assert (record.status, record.value) == ("ok", "")
    assert "logprob" not in record.meta
