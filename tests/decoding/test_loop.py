"""The loop over a scripted model: no weights, milliseconds a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice

import pytest
import torch

from constrain.compiler import compile_choices, compile_regex
from constrain.decoding.loop import generate
from constrain.decoding.model import LanguageModel
from constrain.decoding.options import DecodeOptions, Generation, Request
from constrain.errors import MatcherError, ModelError
from constrain.vocabulary import Vocabulary
from tests.fakes import EOS, answering, scripted_model, toy_vocabulary

VOCABULARY = toy_vocabulary()
WORD = compile_regex("[a-z]{1,12}", VOCABULARY)
PAIR = compile_regex(r'\{"a": (null|[0-9]{1,3})\}', VOCABULARY)

ANSWERS = {
    "one:": "alpha",
    "a much longer prompt than the others:": "beta",
    "third:": "gamma",
    "x": "d",
    "and a fifth one:": "epsilon",
}


def requests(model: LanguageModel, prompts: list[str], constraint=WORD) -> list[Request]:
    encode = model.tokenizer.encode
    return [Request(i, tuple(encode(p)), constraint) for i, p in enumerate(prompts)]


def run(model: LanguageModel, asked: list[Request], **options) -> dict[int, Generation]:
    prefix = options.pop("prefix", ())
    found = list(generate(model, asked, DecodeOptions(**options), shared_prefix=prefix))
    assert sorted(g.key for g in found) == sorted(r.key for r in asked)
    return {g.key: g for g in found}


@pytest.mark.parametrize("batch_size", [1, 2, 3, 8])
def test_every_request_is_answered_once_whatever_the_batch_size(batch_size: int) -> None:
    model = scripted_model(answering(ANSWERS))
    found = run(model, requests(model, list(ANSWERS)), batch_size=batch_size)
    assert [found[i].text for i in range(len(ANSWERS))] == list(ANSWERS.values())
    assert all(g.complete and g.stop == "end" for g in found.values())


def test_a_free_slot_takes_the_next_request_at_once() -> None:
    answers = {f"{i}:": "z" * (12 if i % 2 else 1) for i in range(8)}
    model = scripted_model(answering(answers))
    run(model, requests(model, list(answers)), batch_size=2, max_new_tokens=20)
    steps = [rows for rows, width in model.module.calls if width == 1]
    # 4 texts of 12 tokens (the last needs no end token: 12 letters are the most) and 4 of 1 + end.
    assert sum(steps) >= 4 * 12 + 4 * 2
    assert len(steps) <= (4 * 12 + 4 * 2) / 2 + 12


def test_the_mask_wins_over_the_models_wish() -> None:
    model = scripted_model(answering({"p:": '{"b": 7}'}))
    [generation] = run(model, requests(model, ["p:"], PAIR)).values()
    assert generation.text.startswith('{"a": ')
    assert generation.complete


def test_control_tokens_and_padding_are_never_picked() -> None:
    wishes = {EOS + 1: 50.0, 299: 60.0, EOS: 40.0, ord("k"): 1.0}
    model = scripted_model(lambda _: wishes)
    [generation] = run(model, requests(model, ["p"])).values()
    assert generation.text == "k"


def test_a_text_that_can_only_end_costs_no_further_pass() -> None:
    model = scripted_model(answering({"p:": "deny"}))
    asked = requests(model, ["p:"], compile_choices(["deny"], VOCABULARY))
    [generation] = run(model, asked).values()
    assert generation.stop == "end"
    assert len(model.module.calls) == 1 + len(generation.token_ids)  # one prefill, one a token


def test_a_text_that_is_empty_by_constraint_costs_no_pass_at_all() -> None:
    model = scripted_model(answering({}))
    [generation] = run(model, requests(model, ["p:"], compile_regex("", VOCABULARY))).values()
    assert (generation.text, generation.complete, model.module.calls) == ("", True, [])


def test_meeting_the_token_limit_gives_the_partial_text() -> None:
    model = scripted_model(answering({"p:": '{"a": 123}'}))
    [generation] = run(model, requests(model, ["p:"], PAIR), max_new_tokens=4).values()
    assert (generation.stop, generation.complete) == ("length", False)
    assert len(generation.token_ids) == 4
    assert '{"a": 123}'.startswith(generation.text)


def test_a_text_that_satisfies_the_constraint_at_the_limit_is_complete() -> None:
    model = scripted_model(answering({"p:": "abcdefgh"}))
    [generation] = run(model, requests(model, ["p:"]), max_new_tokens=3).values()
    assert (generation.stop, generation.complete) == ("length", True)


def test_a_text_no_token_continues_stops_alone() -> None:
    tokens = [t if t != b"!" else None for t in VOCABULARY.tokens]
    without = Vocabulary.of(tokens, [EOS], size=VOCABULARY.size)
    base = scripted_model(answering(ANSWERS))
    model = LanguageModel(**{**vars(base), "vocabulary": without})
    stuck = replace(compile_regex("ab?!", VOCABULARY), vocabulary=without)
    asked = requests(model, ["one:", "x"], compile_regex("[a-z]{1,12}", without))
    found = run(model, [*asked, Request(9, (65,), stuck)])
    assert (found[9].stop, found[9].complete) == ("stuck", False)
    assert (found[0].text, found[1].text) == ("alpha", "d")


def test_a_shared_prefix_changes_no_text_and_is_run_once() -> None:
    head = "all prompts begin like this; " * 4
    answers = {f"{head}{k}": v for k, v in ANSWERS.items()}
    model = scripted_model(answering(answers))
    asked = requests(model, list(answers))
    plain = run(model, asked, batch_size=2)
    without, model.module.calls = model.module.calls, []
    shared = run(model, asked, batch_size=2, prefix=model.tokenizer.encode(head))
    assert plain == shared
    cost = [sum(rows * width for rows, width in calls) for calls in (without, model.module.calls)]
    assert cost[0] - cost[1] >= 3 * len(model.tokenizer.encode(head))


def test_a_prompt_that_leaves_the_shared_prefix_shares_only_what_fits() -> None:
    answers = {"common head A": "alpha", "common tail B": "beta", "common": "gamma", "q": "delta"}
    model = scripted_model(answering(answers))
    prefix = model.tokenizer.encode("common head ")
    found = run(model, requests(model, list(answers)), batch_size=3, prefix=prefix)
    assert [found[i].text for i in range(4)] == list(answers.values())


def test_sampled_text_depends_on_seed_and_key_alone() -> None:
    model = scripted_model(lambda _: {ord(c): 1.0 for c in "abcdefgh"})
    prompts = [f"{'x' * i}:" for i in range(9)]
    asked = requests(model, prompts)
    texts = [
        {k: g.text for k, g in run(model, asked, batch_size=b, temperature=1.0, seed=5).items()}
        for b in (1, 4, 9)
    ]
    assert texts[0] == texts[1] == texts[2]
    assert len(set(texts[0].values())) > 4
    other = run(model, asked, temperature=1.0, seed=6)
    assert {k: g.text for k, g in other.items()} != texts[0]


def test_logprobs_and_pressures_describe_the_masked_distribution() -> None:
    wishes = {ord("a"): 2.0, ord("b"): 1.0, ord("1"): 3.0}
    model = scripted_model(lambda _: wishes)
    asked = requests(model, ["p"], compile_choices(["a", "b"], VOCABULARY))
    [generation] = run(model, asked).values()
    logits = torch.zeros(VOCABULARY.size)
    for token, logit in wishes.items():
        logits[token] = logit
    kept = logits.softmax(0)[[ord("a"), ord("b")]]
    assert generation.text == "a"
    assert generation.logprobs == pytest.approx([(kept[0] / kept.sum()).log().item()], abs=1e-5)
    assert generation.pressures == pytest.approx([1 - kept.sum().item()], abs=1e-5)


def test_running_out_of_memory_halves_the_batch_and_loses_nothing() -> None:
    model = scripted_model(answering(ANSWERS), out_of_memory_over=2)
    head = model.tokenizer.encode("o")
    found = run(model, requests(model, list(ANSWERS)), batch_size=5, prefix=head)
    assert [found[i].text for i in range(len(ANSWERS))] == list(ANSWERS.values())


def test_sampled_text_is_the_same_after_running_out_of_memory() -> None:
    def script(_: bytes) -> dict[int, float]:
        return {ord(c): 1.0 for c in "abcdefgh"}

    options = {"temperature": 1.0, "seed": 1, "batch_size": 8}
    texts = []
    for limit in (None, 3):
        model = scripted_model(script, out_of_memory_over=limit)
        found = run(model, requests(model, [f"{i}:" for i in range(8)]), **options)
        texts.append({k: g.text for k, g in found.items()})
    assert texts[0] == texts[1]


def test_too_little_memory_for_one_row_is_an_error_that_says_so() -> None:
    model = scripted_model(answering(ANSWERS), out_of_memory_over=0)
    with pytest.raises(ModelError, match="too little memory for one document"):
        run(model, requests(model, ["x"]), batch_size=4)


def test_another_failure_of_the_model_is_not_taken_for_memory() -> None:
    def broken(_: bytes) -> dict[int, float]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes"):
        run(scripted_model(broken), requests(scripted_model(broken), ["x"]))


def test_logits_that_are_no_numbers_are_an_error_that_says_so() -> None:
    model = scripted_model(lambda _: {ord("a"): float("nan")})
    with pytest.raises(ModelError, match="NaN"):
        run(model, requests(model, ["p"]))


def test_a_prompt_that_does_not_fit_is_refused() -> None:
    model = scripted_model(answering(ANSWERS), context_length=20)
    with pytest.raises(ModelError, match="17 prompt tokens and 4 new ones do not fit"):
        run(model, requests(model, ["." * 17]), max_new_tokens=4)


def test_an_empty_prompt_is_refused() -> None:
    model = scripted_model(answering(ANSWERS))
    with pytest.raises(ModelError, match="prompt is empty"):
        run(model, [Request(3, (), WORD)])


def test_a_constraint_of_another_vocabulary_is_refused() -> None:
    other = Vocabulary.of([b"a", None], [1])
    model = scripted_model(answering(ANSWERS))
    with pytest.raises(MatcherError, match="another vocabulary"):
        run(model, requests(model, ["p"], compile_regex("a", other)))


def test_requests_are_read_lazily() -> None:
    read = []

    def endless() -> Iterator[Request]:
        for i in count():
            read.append(i)
            yield Request(i, (65,), WORD)

    model = scripted_model(answering({"A": "yes"}))
    found = list(islice(generate(model, endless(), DecodeOptions(batch_size=2)), 20))
    assert [g.text for g in found] == ["yes"] * 20
    assert len(read) <= 48


def test_no_requests_give_nothing() -> None:
    assert list(generate(scripted_model(answering({})), [], DecodeOptions())) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("batch_size", 0), ("max_new_tokens", 0), ("temperature", -1), ("top_p", 0), ("min_p", 1)],
)
def test_options_outside_their_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(ModelError, match=name):
        DecodeOptions(**{name: value})
