"""Lexemes against Python's `re`: where each match ends, whatever follows."""

from __future__ import annotations

import re
from itertools import product

import pytest

from constrain.errors import RegexError
from constrain.syntax.lexeme import Lexeme, lexeme

PATTERNS = [
    (r"[a-z]+", "ab1"),
    (r'"(.*?)(?<!\\)(\\\\)*?"', '"\\a'),
    (r'".*?"', '"a'),
    (r'".*"', '"a'),
    (r"/\*(.|\n)*?\*/", "/*a"),
    (r"a|ab", "abc"),
    (r"ab|a", "abc"),
    (r"(?!ab|ba\b)[a-z]+", "ab-"),
    (r"(?!(?:ab|c)\b)[a-z]+", "abc-"),
    (r"ab\b", "ab-"),
    (r"a\Bb|a", "ab-"),
    (r"\d+(\.\d+)?(e[+-]?\d+)?", "1.e+"),
    (r"a(?=b)|aa", "ab"),
    (r"a(?!b)|ab*?c", "abc"),
    (r"a*?b|a", "ab"),
    (r"(a|b)*?c|b", "abc"),
    (r"(?:a(?=bb)|a|ab)", "ab"),
    (r'"(?!"").*?(?<!\\)(\\\\)*?"', '"\\a'),
    (r"a+?(?=b+c)", "abc"),
    (r"(?i:ab)c|A", "aAbc"),
    (r"a{2,3}?b?", "ab"),
    (r"(ab?)+?c?", "abc"),
    (r"(?m)a$", "a\nb"),
    (r"(a|ab)(c|bcd)(d*)", "abcd"),
    (r"(a*)*b", "ab"),
    (r"(a?)*?b", "ab"),
    (r"(?:a|(?!ab)..)", "ab"),
    (r"a(?<!b)b|a(?<=a)", "ab"),
]


def _lengths(found: Lexeme, text: str) -> list[int]:
    """Return the lengths of the beginnings of `text` that are its lexeme: one, or none."""
    lengths = []
    state = found
    for length, char in enumerate(text, 1):
        targets = [target for charset, target in state.moves if ord(char) in charset]
        assert len(targets) <= 1
        if not targets:
            break
        state = targets[0]
        if state.duty is not None and _is_fulfilled(state.duty, text[length:]):
            lengths.append(length)
    return lengths


def _is_fulfilled(duty, rest: str) -> bool:
    for char in rest:
        targets = [target for charset, target in duty.moves if ord(char) in charset]
        assert len(targets) <= 1
        if not targets:
            return False
        duty = targets[0]
    return duty.may_end


@pytest.mark.parametrize(("pattern", "alphabet"), PATTERNS)
def test_a_lexeme_ends_where_re_match_ends(pattern: str, alphabet: str) -> None:
    found, expected = lexeme(pattern), re.compile(pattern)
    for length in range(6):
        for chars in product(alphabet, repeat=length):
            text = "".join(chars)
            match = expected.match(text)
            ends = [match.end()] if match and match.end() else []
            assert _lengths(found, text) == ends, text


@pytest.mark.parametrize("pattern", [r"^a", r"a$", r"\ba", r"(?<=b)a", r"a\Z", r"(?=(?=a)a)a"])
def test_what_looks_outside_the_lexeme_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        lexeme(pattern)


def test_a_lexeme_of_too_many_states_is_refused() -> None:
    with pytest.raises(RegexError, match="states"):
        lexeme("(a|b)*a(a|b){14}")
