"""Guarded edges: no equal items in an array, no equal keys in an object, and never a dead end."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain import bitmask
from constrain.compiler import compile_schema
from constrain.errors import UnsupportedSchema
from constrain.masks import MaskCache
from constrain.matcher import Matcher
from constrain.schema import SchemaOptions
from constrain.tables import CompiledConstraint
from constrain.vocabulary import Vocabulary

slow = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
STRICT = SchemaOptions(strict=True, whitespace="compact")
BYTES = Vocabulary.of([bytes([b]) for b in range(256)], [256])

_PAIR = {
    "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}},
    "type": "object",
    "required": ["a"],
    "additionalProperties": False,
}
_PAIRS = [{"a": a} | b for a in "xy" for b in ({}, {"b": False}, {"b": True})]
_WORDS = ["a", "b", "aa", "ab", "ba", "bb"]
_ANY_KEYS = {
    "type": "object",
    "patternProperties": {"^[ab]$": {"enum": [1, 2]}},
    "additionalProperties": False,
}
_KEYED = [dict(zip(k, v, strict=True)) for n in range(3) for k in itertools.permutations("ab", n)
          for v in itertools.product((1, 2), repeat=n)]  # fmt: skip


def _arrays(items: list[Any], least: int, most: int) -> Iterator[str]:
    for count in range(least, most + 1):
        for some in itertools.product(items, repeat=count):
            if all(x != y for x, y in itertools.combinations(some, 2)):
                yield json.dumps(some, separators=(",", ":"))


FINITE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "objects": (
        {"type": "array", "items": _PAIR, "uniqueItems": True, "maxItems": 3},
        list(_arrays(_PAIRS, 0, 3)),
    ),
    "as many objects as there are": (
        {"type": "array", "items": _PAIR | {"required": ["a", "b"]}, "uniqueItems": True},
        list(_arrays([p for p in _PAIRS if len(p) == 2], 0, 4)),
    ),
    "words of a pattern": (
        {
            "type": "array",
            "items": {"type": "string", "pattern": "^[ab]{1,2}$"},
            "uniqueItems": True,
            "minItems": 2,
            "maxItems": 3,
        },
        list(_arrays(_WORDS, 2, 3)),
    ),
    "keys of a pattern": (
        _ANY_KEYS | {"minProperties": 2},
        [json.dumps(k, separators=(",", ":")) for k in _KEYED if len(k) == 2],
    ),
}


def _vocabulary(texts: list[str], seed: int) -> Vocabulary:
    """Return all bytes, and pieces of the texts as longer tokens."""
    chooser = random.Random(seed)
    pieces = set()
    for _ in range(30):
        text = chooser.choice(texts)
        start = chooser.randrange(len(text))
        pieces.add(text[start : start + chooser.randint(2, 9)].encode())
    singles = [bytes([b]) for b in range(256)]
    return Vocabulary.of([*singles, *sorted(pieces)], [256 + len(pieces)])


def _allowed(matcher: Matcher, vocabulary: Vocabulary) -> set[int]:
    mask = bitmask.allocate(1, vocabulary.size)
    matcher.fill_next_token_bitmask(mask)
    return set(bitmask.allowed_ids(mask[0]).tolist())


def _prefixes(texts: list[str]) -> set[bytes]:
    return {text.encode()[:n] for text in texts for n in range(len(text) + 1)}


@pytest.mark.parametrize("name", FINITE)
@slow
@given(seed=st.integers(0, 2**16))
def test_the_mask_is_what_the_listed_texts_allow(name: str, seed: int) -> None:
    schema, texts = FINITE[name]
    vocabulary = _vocabulary(texts, seed)
    prefixes, whole = _prefixes(texts), set(texts)
    constraint = compile_schema(schema, vocabulary, STRICT)
    matcher, text = Matcher(constraint), b""
    chooser = random.Random(seed)
    while not matcher.is_terminated():
        expected = {i for i, t in enumerate(vocabulary.tokens) if t and text + t in prefixes}
        if text.decode() in whole:
            expected |= set(vocabulary.eos_ids)
        assert _allowed(matcher, vocabulary) == expected
        token = chooser.choice(sorted(expected))
        refused = chooser.choice(sorted(set(range(vocabulary.size)) - expected))
        assert not matcher.accept_token(refused)
        assert matcher.accept_token(token)
        text += vocabulary.tokens[token] or b"" if token < len(vocabulary.tokens) else b""
    assert jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))


OPEN: list[dict[str, Any]] = [
    {"type": "array", "uniqueItems": True, "minItems": 3},
    {"type": "array", "items": {"type": "number"}, "uniqueItems": True, "minItems": 5},
    {"type": "array", "items": {"type": "integer", "minimum": 9, "maximum": 20}, "minItems": 12}
    | {"uniqueItems": True},
    {"type": "object", "minProperties": 3, "additionalProperties": {"enum": [None, True]}},
    {
        "type": "array",
        "items": {"properties": {"k": {"type": "array", "uniqueItems": True, "minItems": 2}}},
        "uniqueItems": True,
        "minItems": 2,
    },
    {
        "anyOf": [
            {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 2},
            {"type": "array", "items": {"enum": ["", "a", 7]}, "minItems": 2},
        ]
    },
    {"type": "array", "contains": {"type": "integer"}, "minContains": 2, "uniqueItems": True},
    {"type": "object", "minProperties": 2, "properties": {"k": {"type": "string"}, "a": True}},
    {"type": "object", "patternProperties": {"^a": {"$ref": "#"}}, "maxProperties": 4},
]
_FEW = [b'"', b",", b":", b"[", b"]", b"{", b"}", b"0", b"1", b".", b"-", b"e", b"2", b"9", b"\\"]
_FEW += [
    b"a",
    b"b",
    b"k",
    b"true",
    b"null",
    b"t",
    b"r",
    b"u",
    b"n",
    b"l",
    b"f",
    b"s",
    b"false",
    b" ",
]
_FEW += [
    b'","',
    b'":',
    b'["',
    b'"],',
    b"1,1",
    b"},{",
    b'{"k":[',
    b'"a","a"',
    b"1.0",
    b"10",
    b",1",
    b"\n",
]
# Closing is likely, and so is saying the same again.
_SMALL = Vocabulary.of([*_FEW, *(bytes([b]) for b in range(256))], [len(_FEW) + 256])


@pytest.mark.parametrize("number", range(len(OPEN)))
@pytest.mark.parametrize("whitespace", ["compact", "flexible"])
@slow
@given(seed=st.integers(0, 2**16))
def test_sampled_texts_validate_and_never_end_in_a_dead_end(
    number: int, whitespace: str, seed: int
) -> None:
    constraint = _open(number, whitespace)
    matcher, text = Matcher(constraint, _MASKS[number, whitespace]), b""
    chooser = random.Random(seed)
    for step in range(150):
        ids = _allowed(matcher, _SMALL)
        assert ids, text
        if step % 15 == seed % 15:
            assert ids - set(_SMALL.eos_ids) == {
                i
                for i, token in enumerate(_SMALL.tokens)
                if matcher.fork().accept_bytes(token or b"")
            }
        if ids & set(_SMALL.eos_ids) and chooser.random() < 0.3:
            break
        few = sorted(i for i in ids if i < len(_FEW))
        token = chooser.choice(few if few and chooser.random() < 0.95 else sorted(ids))
        assert matcher.accept_token(token)
        if matcher.is_terminated():
            break
        text += _SMALL.tokens[token] or b""
    if matcher.is_accepting():
        value = json.loads(text, object_pairs_hook=_without_doubles)
        assert jsonschema.Draft202012Validator(OPEN[number]).is_valid(value), text


_MASKS: dict[tuple[int, str], MaskCache] = {}


def _open(number: int, whitespace: str) -> CompiledConstraint:
    if (number, whitespace) not in _MASKS:
        options = SchemaOptions(strict=True, whitespace=whitespace, distinct_keys=True)  # type: ignore[arg-type]
        _MASKS[number, whitespace] = MaskCache(compile_schema(OPEN[number], _SMALL, options))
    return _MASKS[number, whitespace].compiled


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def _refused_at(schema: dict[str, Any], text: str) -> int | None:
    """Return the index of the first byte that is refused; None when the text is accepted whole."""
    matcher = Matcher(compile_schema(schema, BYTES, SchemaOptions(strict=True)))
    for index, byte in enumerate(text.encode()):
        if not matcher.accept_token(byte):
            return index
    return None if matcher.is_accepting() else len(text)


ANY = {"type": "array", "uniqueItems": True}
NUMBERS = ANY | {"items": {"type": "number"}}


@pytest.mark.parametrize(
    ("schema", "text", "refused"),
    [
        (ANY, '[1, "a", [1], [1, 1], {"a": 1}, null, true, "1", 12]', None),
        (ANY, "[[1, 2],[1,2]]", 12),
        (ANY, '[{"a":1,"b":2},{"b":2,"a":1}]', 27),
        (ANY, '[{"a":1,"b":2},{"b":1,"a":2}]', None),
        (ANY, '[{"a":[{}]},{"a": [{}]}]', 22),
        (ANY, '["]","],"]', None),
        (NUMBERS, "[1,2,12,1.5,-1]", None),
        (NUMBERS, "[1,1.0]", 6),
        (NUMBERS, "[0.5,5e-1]", 9),
        (NUMBERS, "[0,-0]", 5),
        (NUMBERS, "[100,1E2]", 8),
        (NUMBERS, "[1200,1.2e+3]", 12),
        (NUMBERS, "[0.01,1e-2]", 10),
        (NUMBERS, "[1e40,1e41,10e40]", 15),
        ({"minProperties": 3, "type": "object"}, '{"a":1,"b":1,"c":1}', None),
        ({"minProperties": 3, "type": "object"}, '{"a":1,"b":1,"a":1', 15),
        ({"minProperties": 3, "type": "object"}, '{"a":1,"b":1}', 12),
        ({"minProperties": 2, "properties": {"a": {}}, "type": "object"}, '{"b":1,"c":1}', None),
    ],
)
def test_equal_items_and_keys_are_refused_where_they_end(
    schema: dict[str, Any], text: str, refused: int | None
) -> None:
    assert _refused_at(schema, text) == refused


def test_a_thousand_items_are_told_apart() -> None:
    matcher = Matcher(compile_schema(ANY, BYTES, STRICT))
    items = ",".join(f'"item {n}"' for n in range(1000))
    assert matcher.accept_bytes(f"[{items}".encode())
    assert not matcher.fork().accept_bytes(b',"item 500",')
    assert matcher.accept_bytes(b',"item 1000"]')
    assert matcher.is_accepting()


def test_rollback_brings_the_siblings_back() -> None:
    matcher = Matcher(compile_schema(ANY, BYTES, STRICT))
    for byte in b"[1,2,2":
        assert matcher.accept_token(byte)
    assert not matcher.accept_token(ord("]"))
    matcher.rollback(1)
    assert matcher.accept_token(ord("3"))
    assert matcher.accept_token(ord("]"))
    matcher.rollback(4)
    assert matcher.forced_bytes() == b""
    assert matcher.accept_bytes(b"2]")


def test_where_values_may_run_out_the_schema_is_refused() -> None:
    few = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "boolean"}}}}
    few |= {"uniqueItems": True, "minItems": 9}
    few["items"] |= {"additionalProperties": False}
    with pytest.raises(UnsupportedSchema, match="may not have enough different values"):
        compile_schema(few, BYTES, STRICT)


def test_where_keys_in_any_order_may_run_out_the_schema_is_refused() -> None:
    with pytest.raises(UnsupportedSchema, match="the order of the keys of its items is open"):
        compile_schema({"type": "array", "items": _ANY_KEYS, "uniqueItems": True}, BYTES, STRICT)


KEYS = {"properties": {"a": {"type": "integer"}}, "required": ["a"], "type": "object"}


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('{"a":1,"b":{"b":1,"c":[{"b":2}]},"c":2}', None),
        ('{"a":1,"b":1,"b":2}', 15),
        ('{"a":1,"b":{"c":1,"c":2}}', 20),
        ('{"a":1,"b\\"":1,"b":2}', None),
        ('{"a":1,"b\\"":1,"b\\"":2}', 19),
    ],
)
def test_no_key_stands_twice_where_that_is_asked_for(text: str, refused: int | None) -> None:
    compiled = compile_schema(KEYS, BYTES, SchemaOptions(distinct_keys=True))
    matcher = Matcher(compiled)
    taken = next((i for i, b in enumerate(text.encode()) if not matcher.accept_token(b)), None)
    assert taken == refused


def test_a_key_that_stands_already_loses_every_token_that_would_end_it() -> None:
    tokens = [*(bytes([b]) for b in range(256)), b'":', b'b":', b'b"', b'bc":', b'","b":', b'ab"']
    vocabulary = Vocabulary.of(tokens, [len(tokens)])
    compiled = compile_schema(True, vocabulary, SchemaOptions(distinct_keys=True))
    matcher = Matcher(compiled)
    assert matcher.accept_bytes(b'{"b":1,"ab":2,"')
    longer = {tokens[i] for i in _allowed(matcher, vocabulary) if 256 <= i < len(tokens)}
    assert longer == {b'":', b'bc":'}
    assert matcher.accept_bytes(b"a")
    longer = {tokens[i] for i in _allowed(matcher, vocabulary) if 256 <= i < len(tokens)}
    assert longer == {b'":', b'bc":', b'ab"'}
