"""Structural tags: free text ends at the first tag, and inside an island its constraint holds."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain import Matcher, Vocabulary, compile_tags
from constrain.errors import ConstraintError
from constrain.masks import MaskCache

BYTES = Vocabulary.of([bytes([b]) for b in range(256)], [256])
slow = settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))

THINKING = [
    {"begin": "<think>", "end": "</think>", "text": {"max_length": 20}},
    {"text": {}},
    {"begin": "```json\n", "end": "\n```", "schema": {"type": "array", "items": {"type": "null"}}},
]
CALLS = [
    {
        "any_of": [
            {"begin": "<a>", "end": "</a>", "regex": "[ab]+"},
            {"begin": "<b>", "end": "", "choices": ["a", "<a>"]},
        ],
        "min": 1,
        "max": 2,
        "text": {"max_length": 4},
    }
]
_FREE = r"(?:(?!<[ab]>).){0,4}"
_CALLS = re.compile(f"(?:{_FREE}(?:<a>[ab]+</a>|<b>(?:a|<a>))){{1,2}}{_FREE}(?!.)", re.DOTALL)


def accepts(parts: list[dict[str, Any]], text: str) -> bool:
    matcher = Matcher(compile_tags(parts, BYTES))
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("<think>hm</think>so: ```json\n[null, null]\n```", True),
        ("<think></think>```json\n[]\n```", True),
        ("<think>a < b </thin</think>```json\n[]\n```", True),
        ("<think>" + "x" * 20 + "</think>```json\n[]\n```", True),
        ("<think>" + "x" * 21 + "</think>```json\n[]\n```", False),
        ("<think>hm</think>```json\n[1]\n```", False),
        ("<think>hm</think>no island", False),
        ("<think>hm</think>``````json\n[]\n```", True),
        ("hm</think>```json\n[]\n```", False),
        ("<think>hm</think>```json\n[]\n``` ", False),
    ],
)
def test_thoughts_then_a_fenced_answer(text: str, *, right: bool) -> None:
    assert accepts(THINKING, text) == right


_pieces = st.sampled_from(["<a>", "</a>", "<b>", "a", "b", "<", ">", "x", "/"])
_masks = MaskCache(compile_tags(CALLS, BYTES))


@slow
@given(st.lists(_pieces, max_size=12).map("".join))
def test_islands_in_free_text_are_what_a_backtracking_matcher_finds(text: str) -> None:
    matcher = Matcher(_masks.compiled, _masks)
    taken = matcher.accept_bytes(text.encode()) and matcher.is_accepting()
    assert taken == (_CALLS.fullmatch(text) is not None)


def test_a_tag_in_free_text_is_never_passed_over() -> None:
    matcher = Matcher(_masks.compiled, _masks)
    assert matcher.accept_bytes(b"x<a>")
    assert not matcher.fork().accept_bytes(b"x")
    assert matcher.accept_bytes(b"ab</a>")


def test_schemas_of_several_islands_do_not_mix() -> None:
    tree = {"type": "array", "items": {"$ref": "#"}}
    leaf = {"type": "array", "items": {"type": "string", "const": "x"}}
    parts = [{"begin": "1", "schema": tree}, {"begin": "2", "schema": leaf}]
    assert accepts(parts, '1[[],[[]]]2["x","x"]')
    assert not accepts(parts, '1["x"]2[]')
    assert not accepts(parts, "1[]2[[]]")


def test_a_grammar_may_be_left_recursive() -> None:
    parts = [{"begin": ">", "end": "<", "grammar": 'root ::= root "+" "1" | "1"'}]
    assert accepts(parts, ">1+1+1<")
    assert not accepts(parts, ">1+<")


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([], "at tags: there are no parts"),
        ([{"txt": {}}], "at tags/0: a part has"),
        ([{"text": {}}, {"text": {}}], "at tags/0: after free text comes an island"),
        ([{"text": {"max": 1}}], "at tags/0/text: 'max' is not known here"),
        ([{"begin": "a"}], "at tags/0: give exactly one of schema"),
        ([{"begin": "", "regex": "a"}], "at tags/0: 'begin'"),
        ([{"begin": "a", "text": {}}, {"begin": "b", "regex": "c"}], "free text needs an 'end'"),
        (
            [{"any_of": [{"begin": "a", "regex": "x"}, {"begin": "ab", "regex": "y"}]}],
            "more than one",
        ),
        ([{"any_of": [{"begin": "a", "regex": "x"}]}, {"text": {}}], "'any_of' stands last"),
        ([{"any_of": [{"begin": "a", "regex": "x"}], "min": 2, "max": 1}], "no interval"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(parts: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(ConstraintError, match=re.escape(told)):
        compile_tags(parts, BYTES)
