"""The engine's contract, proved against brute force on small languages."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from constrain import bitmask
from constrain.automata.pda import build_automaton
from constrain.compiler import compile_choices, compile_rules
from constrain.errors import ConstraintError, MatcherError
from constrain.limits import Limits
from constrain.masks import MaskCache
from constrain.matcher import Matcher
from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    ANY_CHAR,
    ANY_TEXT,
    Chars,
    Expr,
    Grammar,
    JsonString,
    Ref,
    alt,
    literal,
    repeat,
    seq,
)
from constrain.tables import CompiledConstraint
from constrain.vocabulary import Vocabulary
from tests.byte_oracle import ByteOracle
from tests.strategies import ALPHABET, counted_exprs, grammars, plain_exprs, vocabularies

slow = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))

BYTES = Vocabulary.of([bytes([b]) for b in range(256)], [256])


def compiled(constraint: Grammar | Expr, vocabulary: Vocabulary = BYTES) -> CompiledConstraint:
    grammar = constraint if isinstance(constraint, Grammar) else Grammar(constraint, {})
    try:
        return CompiledConstraint(build_automaton(grammar, Limits()), vocabulary, "")
    except ConstraintError:
        assume(False)
        raise


def mask_of(matcher: Matcher, vocabulary: Vocabulary) -> np.ndarray:
    mask = bitmask.allocate(1, vocabulary.size)
    mask[:] = -1
    matcher.fill_next_token_bitmask(mask)
    return mask[0]


def allowed(matcher: Matcher, vocabulary: Vocabulary) -> set[int]:
    return set(bitmask.allowed_ids(mask_of(matcher, vocabulary)).tolist())


def expected(vocabulary: Vocabulary, oracle: ByteOracle, text: bytes) -> set[int]:
    ids = {
        i for i, token in enumerate(vocabulary.tokens) if token and oracle.is_prefix(text + token)
    }
    return ids | (set(vocabulary.eos_ids) if oracle.contains(text) else set())


def random_walk(
    constraint: CompiledConstraint, seed: int, steps: int
) -> list[tuple[Matcher, bytes, set[int]]]:
    """Return the places of a random text: (matcher forked there, text, allowed ids)."""
    chooser = random.Random(seed)
    vocabulary = constraint.vocabulary
    matcher = Matcher(constraint, MaskCache(constraint))
    text, places = b"", []
    for _ in range(steps):
        ids = allowed(matcher, vocabulary)
        places.append((matcher.fork(), text, ids))
        texts = sorted(ids - set(vocabulary.eos_ids))
        if not texts:
            break
        token = chooser.choice(texts)
        assert matcher.accept_token(token)
        text += vocabulary.tokens[token] or b""
    return places


@slow
@given(grammars(), vocabularies(), st.integers(0, 2**16))
def test_a_bit_is_set_if_and_only_if_the_text_stays_completable(
    grammar: Grammar, vocabulary: Vocabulary, seed: int
) -> None:
    oracle = ByteOracle(grammar)
    for _, text, ids in random_walk(compiled(grammar, vocabulary), seed, 6):
        assert ids == expected(vocabulary, oracle, text)


@slow
@given(counted_exprs(), vocabularies(), st.integers(0, 2**16))
def test_counted_repetitions_allow_what_the_bytes_allow(
    expr: Expr, vocabulary: Vocabulary, seed: int
) -> None:
    oracle = ByteOracle(Grammar(expr, {}))
    for _, text, ids in random_walk(compiled(expr, vocabulary), seed, 12):
        if len(text) < 24:
            assert ids == expected(vocabulary, oracle, text)


@slow
@given(grammars() | counted_exprs(), vocabularies(), st.integers(0, 2**16))
def test_every_reachable_place_allows_a_token(
    constraint: Grammar | Expr, vocabulary: Vocabulary, seed: int
) -> None:
    for _, _, ids in random_walk(compiled(constraint, vocabulary), seed, 40):
        assert ids


@slow
@given(grammars() | counted_exprs(), vocabularies(), st.integers(0, 2**16))
def test_the_cached_mask_equals_feeding_each_token_to_a_fresh_matcher(
    constraint: Grammar | Expr, vocabulary: Vocabulary, seed: int
) -> None:
    for matcher, text, ids in random_walk(compiled(constraint, vocabulary), seed, 30)[::5]:
        fresh = Matcher(matcher._masks.compiled)
        assert not text or fresh.accept_bytes(text)
        fed = {i for i, t in enumerate(vocabulary.tokens) if t and fresh.fork().accept_bytes(t)}
        assert ids - set(vocabulary.eos_ids) == fed


@slow
@given(plain_exprs, st.lists(st.sampled_from(ALPHABET), max_size=6), st.integers(0, 2**16))
def test_a_text_is_accepted_under_every_tokenisation_or_none(
    expr: Expr, chars: list[str], seed: int
) -> None:
    data = "".join(chars).encode()
    member = ByteOracle(Grammar(expr, {})).contains(data)
    constraint = compiled(expr)
    chooser = random.Random(seed)
    for _ in range(4):
        cuts = sorted({0, len(data), *(chooser.randrange(len(data) + 1) for _ in range(3))})
        matcher = Matcher(constraint)
        taken = all(matcher.accept_bytes(data[a:b]) for a, b in itertools.pairwise(cuts))
        assert (taken and matcher.is_accepting()) == member


@slow
@given(grammars(), vocabularies(), st.integers(0, 2**16), st.integers(1, 5))
def test_rollback_undoes_accept(
    grammar: Grammar, vocabulary: Vocabulary, seed: int, steps: int
) -> None:
    *_, (matcher, _, ids) = random_walk(compiled(grammar, vocabulary), seed, 4)
    accepting = matcher.is_accepting()
    chooser, taken = random.Random(seed), 0
    for _ in range(steps):
        options = sorted(allowed(matcher, vocabulary))
        if not options or matcher.is_terminated():
            break
        assert matcher.accept_token(chooser.choice(options))
        taken += 1
    matcher.rollback(taken)
    assert allowed(matcher, vocabulary) == ids
    assert matcher.is_accepting() == accepting


@slow
@given(grammars() | counted_exprs(), vocabularies(), st.integers(0, 2**16))
def test_a_cache_that_starts_afresh_changes_nothing(
    constraint: Grammar | Expr, vocabulary: Vocabulary, seed: int
) -> None:
    whole = compiled(constraint, vocabulary)
    tiny = Matcher(whole, MaskCache(whole, Limits(configurations=3)))
    chooser = random.Random(seed)
    large = Matcher(whole)
    for _ in range(12):
        ids = allowed(large, vocabulary)
        assert allowed(tiny, vocabulary) == ids
        token = chooser.choice(sorted(ids))
        assert tiny.accept_token(token)
        assert large.accept_token(token)
        if large.is_terminated():
            break


@slow
@given(grammars() | counted_exprs(), st.integers(0, 2**16))
def test_the_distance_is_the_length_of_a_shortest_completion(
    constraint: Grammar | Expr, seed: int
) -> None:
    for matcher, _, _ in random_walk(compiled(constraint), seed, 10):
        here = matcher.distance_to_accept()
        assert (here == 0) == matcher.is_accepting()
        after = []
        for byte in range(256):
            fork = matcher.fork()
            if fork.accept_bytes(bytes([byte])):
                after.append(fork.distance_to_accept())
        assert here == 0 or min(after) == here - 1


@slow
@given(grammars(), st.integers(0, 2**16))
def test_forced_bytes_are_the_only_way_on(grammar: Grammar, seed: int) -> None:
    for matcher, _, _ in random_walk(compiled(grammar), seed, 6):
        walker = matcher.fork()
        for byte in matcher.forced_bytes(limit=20):
            assert allowed(walker, BYTES) == {byte}
            assert walker.accept_bytes(bytes([byte]))


def test_recursion_goes_to_any_depth() -> None:
    nested = Grammar(Ref("v"), {"v": alt(literal("1"), seq(literal("["), Ref("v"), literal("]")))})
    constraint = compiled(nested)
    matcher = Matcher(constraint)
    assert matcher.accept_bytes(b"[" * 20_000 + b"1" + b"]" * 19_999)
    assert not matcher.is_accepting()
    assert matcher.accept_bytes(b"]")
    assert matcher.is_accepting()
    assert not matcher.accept_bytes(b"]")


def test_right_recursion_takes_no_stack() -> None:
    right = Grammar(Ref("v"), {"v": alt(literal("b"), seq(literal("a"), Ref("v")))})
    matcher = Matcher(compiled(right))
    assert matcher.accept_bytes(b"a" * 1000)
    assert matcher._lazy.nodes < 10


@pytest.mark.parametrize("most", [2000, 100_000, 2**64])
def test_large_bounds_are_counted_exactly(most: int) -> None:
    constraint = compiled(JsonString(repeat(ANY_CHAR, 0, most)))
    matcher = Matcher(constraint)
    count = min(most, 100_000)
    assert matcher.accept_bytes(b'"' + b"y" * count)
    assert matcher.fork().accept_bytes(b'"')
    assert matcher.accept_bytes(b"y") == (count < most)


@pytest.mark.parametrize(("least", "most"), [(0, 120), (100, 120), (110, None), (119, 121)])
def test_masks_near_the_bounds_of_a_counted_repetition_are_exact(
    least: int, most: int | None
) -> None:
    runs = [b"a" * k for k in range(1, 21)]
    tokens = [*runs, *(run + b'"' for run in runs), b'"']
    vocabulary = Vocabulary.of(tokens, [len(tokens)])
    constraint = compiled(JsonString(repeat(ANY_CHAR, least, most)), vocabulary)
    masks = MaskCache(constraint)
    for count in range((most or 140) + 1):
        matcher = Matcher(constraint, masks)
        assert matcher.accept_bytes(b'"' + b"a" * count)
        assert allowed(matcher, vocabulary) == {
            i
            for i, token in enumerate(tokens)
            if most is None or count + token.count(b"a") <= most
            if not token.endswith(b'"') or count + token.count(b"a") >= least
        }


def test_places_that_differ_only_far_from_a_bound_share_a_mask() -> None:
    vocabulary = Vocabulary.of([bytes([b]) for b in range(256)] + [b"abcd"], [257])
    constraint = compiled(JsonString(repeat(ANY_CHAR, 3, 2000)), vocabulary)
    masks = MaskCache(constraint)
    matcher = Matcher(constraint, masks)
    mask = bitmask.allocate(1, vocabulary.size)
    for byte in b'"' + b"a" * 2000 + b'"':
        matcher.fill_next_token_bitmask(mask)
        assert matcher.accept_token(byte)
    assert masks.walks < 20


def test_items_of_a_list_share_masks() -> None:
    item = JsonString(ANY_TEXT)
    listed = seq(literal("["), item, repeat(seq(literal(","), item), 0, None), literal("]"))
    constraint = compiled(listed)
    masks = MaskCache(constraint)
    mask = bitmask.allocate(1, constraint.vocabulary.size)
    walks = []
    matcher = Matcher(constraint, masks)
    for part in [b'["ab"', b',"ab"', b',"ab"', b',"ab"']:
        for byte in part:
            matcher.fill_next_token_bitmask(mask)
            assert matcher.accept_token(byte)
        walks.append(masks.walks)
    assert walks[1] == walks[2] == walks[3]


def test_special_and_padding_ids_are_never_text() -> None:
    vocabulary = Vocabulary.of([b"a", None, b"<end>", b""], [2], size=70)
    constraint = compiled(repeat(Chars(CharSet.of([(0x20, 0x7E)])), 1, None), vocabulary)
    matcher = Matcher(constraint)
    assert allowed(matcher, vocabulary) == {0}
    assert matcher.accept_token(0)
    assert allowed(matcher, vocabulary) == {0, 2}
    assert not matcher.accept_token(1)
    assert not matcher.accept_token(69)


def test_all_end_tokens_end_and_only_where_the_text_may_end() -> None:
    vocabulary = Vocabulary.of([b"a", b"b", None], [1, 40], size=64)
    constraint = compiled(literal("aa"), vocabulary)
    matcher = Matcher(constraint)
    assert not matcher.accept_token(40)
    assert matcher.accept_token(0)
    assert allowed(matcher, vocabulary) == {0}
    assert matcher.accept_token(0)
    assert allowed(matcher, vocabulary) == {1, 40}
    assert matcher.accept_token(40)
    assert matcher.is_terminated()
    assert allowed(matcher, vocabulary) == set()
    with pytest.raises(MatcherError, match="ended"):
        matcher.accept_token(0)
    matcher.rollback(1)
    assert not matcher.is_terminated()
    with pytest.raises(MatcherError, match="cannot undo"):
        matcher.rollback(9)


def test_bytes_without_a_token_of_their_own_never_strand_a_text() -> None:
    plain = [bytes([b]) for b in range(256) if b != 0xA9]
    vocabulary = Vocabulary.of([*plain, "é".encode(), b"a\xc3"], [300])
    grammar = Grammar(alt(literal("é"), literal("ab")), {})
    constraint = compile_rules(grammar, vocabulary)
    assert allowed(Matcher(constraint), vocabulary) == {plain.index(b"a")}
    with pytest.raises(ConstraintError, match="0xa9"):
        compile_choices(["é", "ab"], vocabulary)


def test_ids_of_equal_bytes_are_allowed_together() -> None:
    vocabulary = Vocabulary.of([b"a", b"b", b"a", b"ab", b"ab"], [5])
    constraint = compiled(literal("ab"), vocabulary)
    assert allowed(Matcher(constraint), vocabulary) == {0, 2, 3, 4}


def test_left_recursion_is_refused_with_a_remedy() -> None:
    left = Grammar(Ref("v"), {"v": alt(literal("b"), seq(Ref("v"), literal("a")))})
    with pytest.raises(ConstraintError, match="left recursion"):
        build_automaton(left, Limits())


def test_a_grammar_without_any_text_is_refused() -> None:
    endless = Grammar(Ref("v"), {"v": seq(literal("a"), Ref("v"))})
    with pytest.raises(ConstraintError, match="no text that the vocabulary can write"):
        build_automaton(endless, Limits())


def test_remembered_steps_count_against_the_limit_in_bytes() -> None:
    constraint = compiled(JsonString(ANY_TEXT))
    free = MaskCache(constraint)
    before = free.nbytes
    matcher = Matcher(constraint, free)
    for byte in b'"' + bytes(range(0x61, 0x7B)):
        assert matcher.accept_token(byte)
    assert free.nbytes > before
    tight = MaskCache(constraint, Limits(mask_bytes=before))
    first, matcher = tight.lazy, Matcher(constraint, tight)
    for byte in b'"ab':
        assert matcher.accept_token(byte)
    assert tight.lazy is not first
