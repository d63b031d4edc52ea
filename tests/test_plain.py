"""Factoring the vocabulary by plain runs changes how masks are computed, never what they allow."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain import bitmask
from constrain.compiler import compile_rules
from constrain.masks import MaskCache
from constrain.matcher import Matcher
from constrain.plain import LONGEST, factor
from constrain.syntax.charset import ANY, CharSet
from constrain.syntax.expr import (
    ANY_CHAR,
    ANY_TEXT,
    Chars,
    Expr,
    Grammar,
    JsonString,
    Literal,
    complement,
    conjunction,
    literal,
    repeat,
    seq,
)
from constrain.vocabulary import Vocabulary

BYTES = [bytes([b]) for b in range(256)]
AWKWARD = [
    b"plain words",
    b'end"',
    b'end",',
    b"two\nlines",
    b"tab\\tbed",
    b"back\\",
    "é日😀".encode(),
    "é日😀".encode()[:-1],
    "é".encode()[1:] + b"x",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf5\x80",
    b"\x7f",
    b"x\x1f",
    b"abcdefghij" * 3,
]


def vocabulary_of(*more: bytes, without: bytes = b"") -> Vocabulary:
    singles: list[bytes | None] = [None if t in without and t else t for t in BYTES]
    return Vocabulary.of([*singles, *AWKWARD, *more], [400], size=450)


def is_plain_char(char: str) -> bool:
    return json.dumps(char, ensure_ascii=False)[1:-1] == char


@given(st.binary(max_size=8))
def test_a_token_is_split_after_its_longest_plain_run(token: bytes) -> None:
    plain = factor(Vocabulary.of([*BYTES, token], [300]))
    run = 0
    while run < len(token):
        for size in (1, 2, 3, 4):
            piece = token[run : run + size].decode(errors="replace")
            if len(piece) == 1 and is_plain_char(piece) and piece.encode() == token[run:][:size]:
                run += size
                break
        else:
            break
    assert bool(plain.rows[LONGEST, 8] & 1) == (run == len(token) > 0)
    count = len(token[:run].decode())
    assert not plain.rows[:count, 8].any()
    spelled = spelled_tokens(plain.others)
    assert spelled.get(256, b"") == (b" " * count + token[run:] if run < len(token) else b"")


def spelled_tokens(trie) -> dict[int, bytes]:  # type: ignore[no-untyped-def]
    path, found = bytearray(), {}
    for node, byte in enumerate(trie.byte):
        del path[trie.depth[node] :]
        path.append(byte)
        for token in trie.token_ids[trie.first_token[node] : trie.first_token[node + 1]]:
            found[int(token)] = bytes(path)
    return found


BODIES: list[tuple[Expr, bytes, bool]] = [
    (JsonString(ANY_TEXT), b'"some', True),
    (seq(literal("["), JsonString(ANY_TEXT), literal("]")), b'["x', True),
    (JsonString(repeat(ANY_CHAR, 0, 500)), b'"some', True),
    (JsonString(repeat(ANY_CHAR, 300, None)), b'"some', True),
    (JsonString(repeat(ANY_CHAR, 0, 120)), b'"' + b"x" * 100, True),
    (JsonString(repeat(ANY_CHAR, 0, 6)), b'"some', True),
    (repeat(ANY_CHAR, 0, 6), b"somewh", True),
    (JsonString(conjunction((ANY_TEXT, complement(literal("stop"))))), b'"stops', True),
    (JsonString(conjunction((ANY_TEXT, complement(literal("stop"))))), b'"sto', False),
    (JsonString(repeat(Chars(ANY - CharSet.from_chars("é")), 0, None)), b'"some', False),
    (JsonString(repeat(Chars(CharSet.of([(0x20, 0x7E)])), 0, None)), b'"some', False),
    (repeat(Chars(ANY - CharSet.from_chars("\n")), 0, None), b"some", True),
    (seq(JsonString(ANY_TEXT), Literal("x")), b'"some\xc3', True),
]


@pytest.mark.parametrize(("expr", "begun", "plain"), BODIES)
@pytest.mark.parametrize("without", [b"", b"\xf1\x04", b"q", b"\xa9"])
def test_masks_are_those_of_feeding_each_token(
    expr: Expr, begun: bytes, plain: bool, without: bytes
) -> None:
    vocabulary = vocabulary_of(without=without)
    compiled = compile_rules(Grammar(expr, {}), vocabulary)
    masks = MaskCache(compiled)
    matcher = Matcher(compiled, masks)
    assert matcher.accept_bytes(begun)
    mask = bitmask.allocate(1, vocabulary.size)
    matcher.fill_next_token_bitmask(mask)
    allowed = set(bitmask.allowed_ids(mask[0]).tolist()) - set(vocabulary.eos_ids)
    fed = {i for i, t in enumerate(vocabulary.tokens) if t and matcher.fork().accept_bytes(t)}
    assert allowed == fed
    node = masks.lazy.abstract(matcher._node, 6, vocabulary.trie.max_depth)
    writable, reach = factor(vocabulary).writable, vocabulary.trie.max_depth
    assert (masks.lazy.plain_reach(node, 6, reach, writable, LONGEST) is not None) == plain


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.binary(min_size=1, max_size=6), max_size=30),
    st.integers(0, 40),
    st.none() | st.integers(1, 200),
    st.integers(0, 60),
)
def test_bounded_strings_allow_what_the_bytes_allow(
    more: list[bytes], least: int, room: int | None, count: int
) -> None:
    vocabulary = vocabulary_of(*more)
    most = None if room is None else least + room
    compiled = compile_rules(Grammar(JsonString(repeat(ANY_CHAR, least, most)), {}), vocabulary)
    matcher = Matcher(compiled)
    if not matcher.accept_bytes(b'"' + b"x" * min(count, most or count)):
        raise AssertionError("a short string is refused")
    mask = bitmask.allocate(1, vocabulary.size)
    matcher.fill_next_token_bitmask(mask)
    allowed = set(bitmask.allowed_ids(mask[0]).tolist())
    fed = {i for i, t in enumerate(vocabulary.tokens) if t and matcher.fork().accept_bytes(t)}
    assert allowed == fed
