"""Set algebra over characters, proved by membership against brute force."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.automata.dfa import (
    DEAD,
    CharDfa,
    complement,
    intersect,
    longest_completions,
    minimize,
    shortest_completions,
)
from constrain.automata.regular import char_dfa
from constrain.errors import LimitExceeded
from constrain.limits import Limits
from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    ANY_CHAR,
    ANY_TEXT,
    And,
    Chars,
    Divisible,
    Expr,
    Grammar,
    Ref,
    literal,
    repeat,
    seq,
)
from tests.byte_oracle import ByteOracle
from tests.expr_oracle import divides
from tests.strategies import ALPHABET, regular_exprs

FRACTIONS = ("", "0", "5", "25", "50", "300", "1")

texts = st.text(alphabet=ALPHABET + "0123", max_size=5)
checked = settings(deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))


def accepts(dfa: CharDfa, text: str) -> bool:
    state = 0
    for char in text:
        state = next(
            (
                target
                for charset, target in zip(dfa.classes, dfa.table[state], strict=True)
                if ord(char) in charset
            ),
            DEAD,
        )
        if state == DEAD:
            return False
    return dfa.accepting[state]


def dfa_of(expr: Expr) -> CharDfa:
    return char_dfa(expr, Limits(), Limits().deadline())


@checked
@given(regular_exprs, st.lists(texts, min_size=1, max_size=6))
def test_a_dfa_accepts_exactly_the_members(expr: Expr, samples: list[str]) -> None:
    dfa, oracle = dfa_of(expr), ByteOracle(Grammar(expr, {}))
    for text in samples:
        assert accepts(dfa, text) == oracle.contains(text.encode())


@checked
@given(regular_exprs, regular_exprs, texts)
def test_intersection_and_complement_are_those_of_sets(left: Expr, right: Expr, text: str) -> None:
    a, b = dfa_of(left), dfa_of(right)
    assert accepts(intersect(a, b, Limits()), text) == (accepts(a, text) and accepts(b, text))
    assert accepts(complement(a), text) != accepts(a, text)


@checked
@given(regular_exprs, texts)
def test_minimising_keeps_the_language_and_never_grows(expr: Expr, text: str) -> None:
    dfa = dfa_of(expr)
    small = minimize(dfa)
    assert len(small.table) <= len(dfa.table)
    assert accepts(small, text) == accepts(dfa, text)


def test_minimising_merges_what_no_text_tells_apart() -> None:
    ab = Chars(CharSet.from_chars("ab"))
    assert len(dfa_of(repeat(seq(ab, ab), 0, None)).table) == 2
    assert len(dfa_of(repeat(ANY_CHAR, 0, 50)).table) == 51


def test_an_empty_intersection_accepts_nothing() -> None:
    dfa = dfa_of(And((literal("a"), literal("b"))))
    assert dfa.is_empty()
    assert accepts(complement(dfa), "a")


@pytest.mark.parametrize("divisor", [1, 2, 7, 100])
def test_divisible_is_division(divisor: int) -> None:
    dfa = dfa_of(Divisible(divisor))
    assert not accepts(dfa, "")
    for number in range(300):
        assert accepts(dfa, str(number)) == (number % divisor == 0)
        assert accepts(dfa, f"00{number}") == (number % divisor == 0)


@pytest.mark.parametrize(("divisor", "places"), [(25, 1), (15, 1), (3, 1), (6, 2), (1, 2)])
def test_divisible_counts_decimal_places(divisor: int, places: int) -> None:
    expr = Divisible(divisor, places)
    dfa = dfa_of(expr)
    texts = [f"{i}{point}{rest}" for i in range(60) for point in ("", ".") for rest in FRACTIONS]
    assert {accepts(dfa, text) for text in texts} == {True, False}
    for text in texts:
        assert accepts(dfa, text) == divides(expr, text), text


def test_growth_ends_in_a_limit() -> None:
    wide = seq(ANY_TEXT, literal("a"), repeat(ANY_CHAR, 18, 18))
    with pytest.raises(LimitExceeded, match="states"):
        char_dfa(And((wide, ANY_TEXT)), Limits(states=5000), Limits().deadline())
    with pytest.raises(LimitExceeded, match="seconds"):
        char_dfa(And((wide, ANY_TEXT)), Limits(), Limits(seconds=-1).deadline())


def test_a_reference_is_not_regular() -> None:
    with pytest.raises(TypeError, match="Ref"):
        dfa_of(And((Ref("x"), ANY_TEXT)))


@checked
@given(regular_exprs)
def test_completions_are_as_short_and_as_long_as_the_texts(expr: Expr) -> None:
    dfa = dfa_of(expr)
    if dfa.is_empty():
        return
    shortest, longest = shortest_completions(dfa)[0], longest_completions(dfa)[0]
    assert not dfa_of(And((expr, repeat(ANY_CHAR, shortest, None)))).is_empty()
    if shortest:
        assert dfa_of(And((expr, repeat(ANY_CHAR, 0, shortest - 1)))).is_empty()
    beyond = 40 if longest == DEAD else longest
    assert dfa_of(And((expr, repeat(ANY_CHAR, beyond + 1, None)))).is_empty() == (longest != DEAD)


def test_a_bound_that_has_no_effect_costs_nothing() -> None:
    digits = repeat(Chars(CharSet.from_chars("0123456789")), 2, 5)
    assert len(dfa_of(And((digits, repeat(ANY_CHAR, 0, 10**9)))).table) == 6
