"""Repetitions of rules that may be empty: rounds that read nothing are not counted."""

from __future__ import annotations

import pytest

from constrain import Matcher, Vocabulary, compile_grammar
from constrain.syntax.expr import EMPTY, Grammar, Ref, alt, literal, repeat, seq
from constrain.syntax.rounds import without_empty_rounds

BYTES = Vocabulary.of([bytes([b]) for b in range(256)], [256])


@pytest.mark.parametrize("count", ["{300}", "{0,300}", "{150,300}"])
@pytest.mark.parametrize("item", ['(x | "")', "(x?)", "y", "(y y)", '(y | x{0,2} | "b" x)'])
def test_a_long_repetition_of_what_may_be_empty(item: str, count: str) -> None:
    recursive = 'x ::= "a" | "(" x ")"\ny ::= x?\n'
    matcher = Matcher(compile_grammar(f"root ::= {item}{count}\n{recursive}", BYTES))
    assert matcher.is_accepting()
    assert matcher.accept_bytes(b"a((a))" * 75)
    assert matcher.is_accepting()
    assert not matcher.fork().accept_bytes(b")")
    most = 600 if item in {"(y y)", '(y | x{0,2} | "b" x)'} else 300
    assert matcher.accept_bytes(b"a" * (most - 150))
    assert matcher.is_accepting()
    assert not matcher.accept_bytes(b"a")


def test_lark_words_with_something_ignored_between_them() -> None:
    grammar = 'start: ( | "a" "ab") ~ 2\n%ignore /b?_+/\n'
    for text, good in (("aab", True), ("a_abaab_", True), ("", True), ("aaba", False)):
        matcher = Matcher(compile_grammar(grammar, BYTES, format="lark"))
        assert (matcher.accept_bytes(text.encode()) and matcher.is_accepting()) == good


def test_rounds_without_rules_and_rounds_with_text_stay() -> None:
    solid = Grammar(repeat(seq(literal("a"), Ref("x")), 3, 9), {"x": repeat(literal("b"), 0, 2)})
    assert without_empty_rounds(solid) == solid
    plain = Grammar(repeat(alt(EMPTY, literal("a")), 3, 9), {})
    assert without_empty_rounds(plain) == plain
