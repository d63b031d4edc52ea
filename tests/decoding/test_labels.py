"""Scores of labels from one pass over their trie equal plain passes, label by label."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, islice

import numpy as np
import pytest

from constrain.decoding import labels as labels_module
from constrain.decoding.labels import score_labels
from constrain.decoding.model import LanguageModel
from constrain.errors import ModelError
from tests.decoding.models import plain_logits, tiny_model
from tests.fakes import EOS, scripted_model

LABELS = [(50, 51, EOS), (50, 51, 52, EOS), (50, 60, EOS), (70, EOS), (50, 51), (71, 72, 73, 74)]
PROMPTS = [tuple(range(30, 30 + n)) for n in (25, 3, 11, 1, 40, 12, 13)]


def plain_score(model: LanguageModel, prompt: Sequence[int], label: Sequence[int]) -> float:
    logits = plain_logits(model, (*prompt, *label)).double().log_softmax(-1)
    return sum(logits[len(prompt) - 1 + k, token].item() for k, token in enumerate(label))


def score(model: LanguageModel, **options) -> dict[int, np.ndarray]:
    found = list(score_labels(model, enumerate(PROMPTS), LABELS, **options))
    assert sorted(key for key, _ in found) == list(range(len(PROMPTS)))
    return dict(found)


@pytest.mark.parametrize("name", ["llama", "gpt2", "mistral, sliding", "gemma3, mixed"])
def test_scores_equal_plain_passes(name: str) -> None:
    model = tiny_model(name)
    found = score(model, batch_size=3)
    for i, prompt in enumerate(PROMPTS):
        assert found[i] == pytest.approx([plain_score(model, prompt, x) for x in LABELS], abs=1e-4)


@pytest.mark.parametrize("batch_size", [1, 2, 16])
def test_neither_batch_nor_shared_prefix_changes_scores(batch_size: int) -> None:
    model = tiny_model()
    alone = score(model, batch_size=1)
    together = score(model, batch_size=batch_size, shared_prefix=PROMPTS[1])
    for i, scores in alone.items():
        assert together[i] == pytest.approx(scores, abs=1e-4)


def test_prompts_longer_than_the_tail_are_prefilled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model()
    before = score(model)
    monkeypatch.setattr(labels_module, "_TAIL", 4)
    for i, scores in score(model).items():
        assert scores == pytest.approx(before[i], abs=1e-4)


def test_labels_too_many_for_one_pass_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model()
    before = score(model)
    monkeypatch.setattr(labels_module, "_LOGITS", model.vocabulary.size * 4)
    for i, scores in score(model).items():
        assert scores == pytest.approx(before[i], abs=1e-4)


def test_running_out_of_memory_halves_the_batch() -> None:
    def script(text: bytes) -> dict[int, float]:
        return {50: len(text) / 10, 51: 1.0}

    large, small = scripted_model(script), scripted_model(script, out_of_memory_over=2)
    expected = dict(score_labels(large, enumerate(PROMPTS), LABELS))
    found = dict(score_labels(small, enumerate(PROMPTS), LABELS, shared_prefix=PROMPTS[3]))
    for i, scores in expected.items():
        assert found[i] == pytest.approx(scores)


def test_prompts_are_read_lazily() -> None:
    endless = ((i, (40, 41)) for i in count())
    found = islice(score_labels(scripted_model(lambda _: {}), endless, LABELS, batch_size=2), 3)
    assert len(list(found)) == 3


def test_a_label_of_one_token_needs_no_tree() -> None:
    model = tiny_model()
    [(_, scores)] = score_labels(model, [(0, PROMPTS[0])], [(50,), (60,)])
    expected = [plain_score(model, PROMPTS[0], label) for label in [(50,), (60,)]]
    assert scores == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("prompt", "labels", "message"),
    [((), [(1,)], "is empty"), ((1,), [()], "no tokens"), ((1,) * 600, [(1,)], "do not fit")],
)
def test_what_cannot_be_scored_is_refused(prompt, labels, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        list(score_labels(tiny_model(), [(0, prompt)], labels))
