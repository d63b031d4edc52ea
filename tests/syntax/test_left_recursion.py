"""Grammars of any shape: recursion at the left, hidden, in circles; meaning and cost."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, reject, settings

from constrain import Limits, Matcher
from constrain.automata.pda import build_automaton
from constrain.compiler import compile_rules
from constrain.configurations import LazyAutomaton
from constrain.errors import ConstraintError, LimitExceeded
from constrain.syntax.expr import EMPTY, Grammar, Ref, alt, literal, repeat, seq
from constrain.syntax.inlining import with_fewer_rules
from constrain.syntax.left_recursion import without_left_recursion
from constrain.tables import Automaton
from tests.conformance.vocabularies import BYTES
from tests.strategies import ALPHABET_OF_TWO, recursive_grammars
from tests.text_oracle import short_texts

_LONGEST = 7
_S = Ref("s")

SUM = {"s": alt(seq(_S, alt(literal("+"), literal("*")), _S), literal("n"), seq(literal("-"), _S))}
HIDDEN = {
    "s": alt(seq(Ref("b"), _S, literal("y")), literal("x")),
    "b": alt(EMPTY, seq(literal("z"), Ref("b")), seq(Ref("b"), _S, literal("q"))),
}
INDIRECT = {
    "s": alt(Ref("binary"), repeat(literal("1"), 1)),
    "binary": seq(_S, literal("+"), _S),
}
CYCLE = {"s": Ref("a"), "a": alt(Ref("b"), seq(literal("x"), Ref("a"))), "b": alt(_S, literal("x"))}
ALIKE = {
    "s": alt(Ref("group"), Ref("list"), literal("n")),
    "group": seq(literal("("), _S, literal(")")),
    "list": seq(literal("("), repeat(seq(_S, literal(","))), _S, literal(")")),
}
IN_A_REPETITION = {"s": seq(repeat(seq(_S, literal(",")), 0, 2), literal("a"))}


def _accepts(rules, text: str) -> bool:
    matcher = Matcher(compile_rules(Grammar(_S, rules), BYTES))
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.parametrize(
    ("rules", "accepted", "refused"),
    [
        (SUM, ["n", "n+n*n", "-n+-n", "--n"], ["", "n+", "+n", "nn", "-"]),
        (HIDDEN, ["x", "xy", "zxy", "xyy", "xqxy", "zzxqxy"], ["", "y", "z", "xq", "zx"]),
        (INDIRECT, ["1", "11+1", "1+1+1"], ["", "+", "1+", "1++1"]),
        (CYCLE, ["x", "xxx"], ["", "y", "xy"]),
        (IN_A_REPETITION, ["a", "a,a", "a,a,a", "a,a,a,a"], ["", ",a", "a,", "a,,a"]),
    ],
)
def test_recursion_at_the_left_means_what_it_says(rules, accepted, refused) -> None:
    assert [text for text in accepted if not _accepts(rules, text)] == []
    assert [text for text in refused if _accepts(rules, text)] == []


@settings(deadline=None, max_examples=150)
@given(recursive_grammars())
def test_texts_and_their_beginnings_are_those_of_the_oracle(grammar: Grammar) -> None:
    texts = short_texts(grammar, _LONGEST)
    assume(texts)
    lazy = LazyAutomaton(_automaton(grammar), Limits())
    nodes = {"": lazy.start}
    assert lazy.is_accepting(lazy.start) == ("" in texts)
    try:
        while nodes and len(next(iter(nodes))) < _LONGEST:
            nodes = _following(lazy, nodes, texts)
    except LimitExceeded:  # one in a hundred: nested repetitions of rules that may be empty
        reject()


def _following(lazy: LazyAutomaton, nodes: dict[str, int], texts: frozenset[str]) -> dict[str, int]:
    """Return the nodes one character on, each compared with the oracle."""
    found: dict[str, int] = {}
    for before, node in nodes.items():
        live = lazy.live_bytes(node)
        for char in ALPHABET_OF_TWO:
            prefix = before + char
            expected = any(text.startswith(prefix) for text in texts)
            if not live[ord(char)]:
                assert not expected, prefix
                continue
            found[prefix] = lazy.step(node, char.encode())
            assert lazy.is_accepting(found[prefix]) == (prefix in texts), prefix
            if not expected:  # then only a text that is longer than the oracle looks
                assert lazy.distance(found[prefix]) > _LONGEST - len(prefix), prefix
    return found


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (SUM, "n+" * 5000 + "n"),
        (SUM, "-" * 10_000 + "n"),
        ({"s": alt(seq(_S, _S), literal("a"))}, "a" * 10_000),
        ({"s": alt(seq(_S, _S, _S), seq(_S, _S), literal("a"), EMPTY)}, "a" * 300),
        ({"s": alt(seq(literal("a"), _S), literal("b"))}, "a" * 10_000 + "b"),
        ({"s": alt(seq(literal("("), _S, literal(")")), EMPTY)}, "(" * 5000 + ")" * 5000),
        (ALIKE, "(" * 5000 + "n" + ",n)" * 5000),
    ],
)
def test_long_texts_take_few_configurations(rules, text: str) -> None:
    lazy = LazyAutomaton(_automaton(Grammar(_S, rules)), Limits())
    end = lazy.step(lazy.start, text.encode())
    assert lazy.is_accepting(end)
    most = max(len(lazy.describe(node)[1]) for node in {lazy.start, end})
    assert most <= 4 + (2 * len(text) if text == "a" * 300 else 0)


def _automaton(grammar: Grammar) -> Automaton:
    plain = with_fewer_rules(without_left_recursion(grammar, Limits()))
    return build_automaton(plain, Limits(), join=True)


def test_a_grammar_that_needs_nothing_stays_as_it_is() -> None:
    grammar = Grammar(_S, {"s": alt(seq(literal("a"), _S), literal("b"))})
    assert without_left_recursion(grammar, Limits()) is grammar


def test_rules_that_only_call_each_other_have_no_text() -> None:
    with pytest.raises(ConstraintError, match="no text"):
        compile_rules(Grammar(_S, {"s": Ref("t"), "t": alt(_S, Ref("t"))}), BYTES)


def test_a_large_circle_is_bounded() -> None:
    names = [f"r{i}" for i in range(300)]
    rules = {
        name: alt(*(seq(Ref(other), literal("x")) for other in names), literal("a"))
        for name in names
    }
    with pytest.raises(LimitExceeded):
        compile_rules(Grammar(Ref("r0"), rules), BYTES, Limits(expression_size=200, seconds=5))
