"""Counting characters beside a DFA gives the language of the product, exactly."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.automata import pda
from constrain.automata.counting import Bounds, plan, split_bounds
from constrain.automata.regular import char_dfa
from constrain.compiler import compile_rules
from constrain.errors import ConstraintError
from constrain.limits import Limits
from constrain.matcher import Matcher
from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    ANY_CHAR,
    ANY_TEXT,
    And,
    Chars,
    Divisible,
    Expr,
    Grammar,
    JsonString,
    literal,
    repeat,
    seq,
)
from constrain.vocabulary import Vocabulary
from tests.byte_oracle import ByteOracle
from tests.strategies import ALPHABET, regular_exprs

BYTES = Vocabulary.of([bytes([b]) for b in range(256)], [256])
WORD = repeat(Chars(CharSet.of([(0x61, 0x7A)])), 1, None)

checked = settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True)
def always_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pda, "_COPY_OUT", 0)


def accepts(matcher: Matcher, data: bytes) -> bool:
    return matcher.accept_bytes(data) and matcher.is_accepting()


@checked
@given(
    regular_exprs,
    st.integers(0, 5),
    st.none() | st.integers(0, 5),
    st.lists(st.text(alphabet=ALPHABET + "12", max_size=7), min_size=3, max_size=12),
)
def test_a_bounded_expression_accepts_exactly_its_members(
    expr: Expr, least: int, more: int | None, texts: list[str]
) -> None:
    bounded = And((expr, repeat(ANY_CHAR, least, None if more is None else least + more)))
    oracle = ByteOracle(Grammar(bounded, {}))
    try:
        compiled = compile_rules(Grammar(bounded, {}), BYTES)
    except ConstraintError:
        assert not any(oracle.contains(text.encode()) for text in texts)
        return
    for text in texts:
        assert accepts(Matcher(compiled), text.encode()) == oracle.contains(text.encode())


@checked
@given(regular_exprs, st.integers(0, 6), st.none() | st.integers(0, 6), st.integers(0, 2**16))
def test_no_reachable_place_is_a_dead_end(
    expr: Expr, least: int, more: int | None, seed: int
) -> None:
    bounded = And((expr, repeat(ANY_CHAR, least, None if more is None else least + more)))
    try:
        compiled = compile_rules(Grammar(JsonString(bounded), {}), BYTES)
    except ConstraintError:
        return
    chooser, matcher = random.Random(seed), Matcher(compiled)
    for _ in range(30):
        live = [b for b in range(256) if matcher.fork().accept_bytes(bytes([b]))]
        assert live or matcher.is_accepting()
        if not live:
            break
        assert matcher.accept_bytes(bytes([chooser.choice(live)]))
        assert matcher.distance_to_accept() >= 0


def test_a_bounded_multiple_takes_no_place_that_its_zeros_cannot_end() -> None:
    bounded = And((Divisible(3, 1), repeat(ANY_CHAR, 0, 3)))
    matcher = Matcher(compile_rules(Grammar(bounded, {}), BYTES))
    assert matcher.accept_bytes(b"7.")
    live = [b for b in range(256) if matcher.fork().accept_bytes(bytes([b]))]
    assert bytes(live) == b"258"


@pytest.mark.parametrize(("least", "most"), [(0, 1024), (3, 1024), (1000, None)])
def test_a_pattern_with_a_long_bound_stays_small(least: int, most: int | None) -> None:
    mail = seq(WORD, literal("@"), WORD)
    bounded = And((mail, repeat(ANY_CHAR, least, most)))
    compiled = compile_rules(Grammar(JsonString(bounded), {}), BYTES)
    assert len(compiled.automaton.is_return) < 100
    for count in {least, (most or 2000) - 1, most or 2000, (most or 2000) + 1, least - 1}:
        text = b'"' + b"a" * max(0, count - 2) + b'@b"'
        expected = max(least, 3) <= count and (most is None or count <= most)
        assert accepts(Matcher(compiled), text) == expected
    almost = Matcher(compiled)
    if most is not None:
        assert almost.accept_bytes(b'"' + b"a" * (most - 2) + b"@")
        assert not almost.fork().accept_bytes(b"bb")
        stuck = Matcher(compiled)
        assert not stuck.accept_bytes(b'"' + b"a" * (most - 1)), "no room for the rest"


def test_lengths_with_gaps_have_no_plan_from_a_least_length_on() -> None:
    limits = Limits()
    triples = char_dfa(repeat(literal("abc"), 0, None), limits, limits.deadline())
    assert plan(triples, Bounds(5, 100)) is None
    assert plan(triples, Bounds(5, None)) is None
    assert plan(triples, Bounds(0, 100)) is not None
    letters = char_dfa(WORD, limits, limits.deadline())
    assert plan(letters, Bounds(2, 100)) is not None


def test_bounds_are_split_off_and_combined() -> None:
    bounds = repeat(ANY_CHAR, 2, 9), repeat(ANY_CHAR, 3, None), repeat(ANY_CHAR, 0, 7)
    assert split_bounds(And((WORD, *bounds))) == (WORD, Bounds(3, 7))
    assert split_bounds(And((WORD, ANY_TEXT))) == (WORD, Bounds(0, None))
    assert split_bounds(And((WORD, literal("a")))) is None
