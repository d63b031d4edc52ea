"""The cases of ../shared/data/cases that concern the engine, each from a public bug report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from constrain import (
    MaskCache,
    Matcher,
    SchemaOptions,
    Vocabulary,
    compile_choices,
    compile_grammar,
    compile_regex,
    compile_schema,
)
from constrain.bitmask import words
from constrain.errors import ConstrainError, UnsupportedSchema
from constrain.tables import CompiledConstraint
from tests.conformance.data import shared
from tests.conformance.vocabularies import BYTES, longest_tokens, real_tokens, real_vocabulary

_LINES = shared("cases/dev.jsonl").read_text(encoding="utf-8").split("\n")
CASES = {case["id"]: case for case in map(json.loads, filter(None, _LINES))}
ENGINE = [case for case in CASES.values() if case["input"]["type"] != "document"]


def _text(entry: str | dict[str, Any]) -> str:
    return entry if isinstance(entry, str) else _joined(entry["parts"])


def _joined(parts: Iterable[tuple[str, int]]) -> str:
    return "".join(text * count for text, count in parts)


def _schema(given: dict[str, Any]) -> Any:
    if "schema_text_parts" in given:
        return json.loads(_joined(given["schema_text_parts"]))
    schema = given["schema"]
    if "fill" in given:
        fill = given["fill"]
        *path, last = fill["path"]
        place = schema
        for key in path:
            place = place[key]
        place[last] = [fill["format"] % i for i in range(fill["start"], fill["stop"])]
    return schema


def _compile(given: dict[str, Any], vocabulary: Vocabulary, *, strict: bool) -> CompiledConstraint:
    if given["type"] == "schema":
        return compile_schema(_schema(given), vocabulary, SchemaOptions(strict=strict))
    if given["type"] == "regex":
        pattern = given.get("regex") or _joined(given["regex_parts"])
        return compile_regex(pattern, vocabulary)
    if given["type"] == "grammar":
        return compile_grammar(given["grammar"], vocabulary, given["dialect"])
    return compile_choices(given["choices"], vocabulary)


def _vocabulary(given: dict[str, Any]) -> Vocabulary:
    return real_vocabulary(given["tokenizer"]) if "tokenizer" in given else BYTES


def _may_follow(matcher: Matcher, vocabulary: Vocabulary) -> np.ndarray:
    """Return the mask as booleans, one a token id."""
    mask = np.zeros((1, words(vocabulary.size)), dtype=np.int32)
    matcher.fill_next_token_bitmask(mask)
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
    return bits[: vocabulary.size].astype(bool)


def _is_possible(matcher: Matcher, vocabulary: Vocabulary, ids: Iterable[int]) -> bool:
    """Follow token ids; every mask must agree with what `accept_token` says."""
    for token_id in ids:
        allowed = bool(_may_follow(matcher, vocabulary)[token_id])
        assert matcher.accept_token(token_id) == allowed
        if not allowed:
            return False
    return True


def _spellings(vocabulary: Vocabulary, text: str) -> Iterator[list[int]]:
    data = text.encode("utf-8", "surrogatepass")
    yield list(longest_tokens(vocabulary, data))
    if vocabulary is not BYTES:
        yield [next(longest_tokens(vocabulary, data[i : i + 1])) for i in range(len(data))]


def _is_whole(masks: MaskCache, text: str) -> bool:
    """Return whether `text` is possible in full under each spelling, with its end."""
    vocabulary = masks.compiled.vocabulary
    verdicts = set()
    for ids in _spellings(vocabulary, text):
        matcher = Matcher(masks.compiled, masks)
        whole = _is_possible(matcher, vocabulary, ids) and matcher.is_accepting()
        ends = _may_follow(matcher, vocabulary)[list(vocabulary.eos_ids)]
        assert ends.all() == ends.any() == matcher.is_accepting()
        verdicts.add(whole)
    assert len(verdicts) == 1, "the verdict depends on the spelling"
    return verdicts.pop()


def _refused(case: dict[str, Any], vocabulary: Vocabulary) -> None:
    """Check a refusal: asked for, or of a keyword that is checked after and says so."""
    if case.get("must_refuse") or case.get("refusal_ok"):
        return
    compiled = _compile(case["input"], vocabulary, strict=False)
    assert [note for note in compiled.notes if note.answer == "checked"]
    masks = MaskCache(compiled)
    assert [text for text in map(_text, case["accept"]) if not _is_whole(masks, text)] == []


@pytest.mark.parametrize("case", ENGINE, ids=[case["id"] for case in ENGINE])
def test_the_engine_gets_a_reported_case_right(case):
    given = case["input"]
    vocabulary = _vocabulary(given)
    try:
        compiled = _compile(given, vocabulary, strict=True)
    except UnsupportedSchema:
        _refused(case, vocabulary)
        return
    except ConstrainError:
        if case.get("must_refuse") or case.get("refusal_ok"):
            return
        raise
    assert not case.get("must_refuse")
    masks = MaskCache(compiled)
    accepted = {text: _is_whole(masks, text) for text in map(_text, case["accept"])}
    rejected = {text: _is_whole(masks, text) for text in map(_text, case["reject"])}
    assert [text for text, whole in accepted.items() if not whole] == []
    assert [text for text, whole in rejected.items() if whole] == []
    for prefix in map(_text, case.get("reject_prefix", [])):
        assert not Matcher(compiled, masks).accept_bytes(prefix.encode())


def _after(compiled: CompiledConstraint, text: str) -> np.ndarray:
    matcher = Matcher(compiled)
    assert _is_possible(
        matcher, compiled.vocabulary, longest_tokens(compiled.vocabulary, text.encode())
    )
    return _may_follow(matcher, compiled.vocabulary)


def test_ids_with_equal_bytes_are_allowed_together():
    case = CASES["same-bytes-several-ids"]
    vocabulary = real_vocabulary(case["input"]["tokenizer"])
    compiled = _compile(case["input"], vocabulary, strict=True)
    groups: dict[bytes, list[int]] = {}
    for token_id, token in enumerate(vocabulary.tokens):
        if token:
            groups.setdefault(token, []).append(token_id)
    doubled = [ids for ids in groups.values() if len(ids) > 1]
    assert doubled
    for text in ["", *map(_text, case["accept"])]:
        allowed = _after(compiled, text)
        assert all(len(set(allowed[ids])) == 1 for ids in doubled)


def test_control_tokens_are_never_text():
    given = CASES["special-token-inside-free-string"]["input"]
    compiled = _compile(given, real_vocabulary("llama3_1"), strict=True)
    assert not _after(compiled, '"abc')[128000:].any()
    ended = _after(compiled, '"abc"')
    assert ended[list(compiled.vocabulary.eos_ids)].all()


def test_logit_columns_without_a_token_are_masked():
    given = CASES["padded-logits-gap-in-vocab"]["input"]
    tokens, end = real_tokens(given["tokenizer"])
    assert len(tokens) == given["tokenizer_len"]
    wide = Vocabulary.of(tokens, [end], size=given["logits_width"])
    compiled = _compile(given, wide, strict=True)
    for text in ["", "y", "yes"]:
        assert not _after(compiled, text)[len(tokens) :].any()
    narrow = Vocabulary.of(tokens, [end, 0], size=200_000)
    assert _after(_compile(given, narrow, strict=True), "").shape == (200_000,)


@pytest.mark.parametrize("name", ["tokenizer-eos-not-in-config", "several-eos-ids-mid-string"])
def test_every_end_id_ends_a_text_and_nothing_else(name):
    given = CASES[name]["input"]
    tokens, _ = real_tokens(given["tokenizer"])
    ends = [*given["config_eos"], *([given["tokenizer_eos"]] if "tokenizer_eos" in given else [])]
    compiled = _compile(given, Vocabulary.of(tokens, ends), strict=True)
    whole = CASES[name]["accept"][0]
    assert _after(compiled, whole)[ends].all()
    assert not _after(compiled, whole[:-1])[ends].any()
    assert not _after(compiled, whole[:4])[ends].any()
