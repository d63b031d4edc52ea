"""GBNF: what it means, and what is said about faults."""

from __future__ import annotations

import pytest

from constrain import Matcher, compile_grammar
from constrain.errors import GrammarError
from constrain.syntax.gbnf import read_gbnf
from tests.conformance.vocabularies import BYTES

MEANINGS = [
    ('root ::= "a"', ["a"], ["", "b", "aa"]),
    ('root ::= ""', [""], ["a"]),
    ("root ::= ", [""], ["a"]),
    ("root ::= [a-c]", ["a", "b", "c"], ["d", "", "-"]),
    ("root ::= [^a-c\\n]", ["d", "é", "😀"], ["a", "\n", "de"]),
    ("root ::= [a-]", ["a", "-"], ["b"]),
    (r"root ::= [\]\[\\]", ["]", "[", "\\"], ["a"]),
    (r"root ::= [\x41\u00e9\U0001F600]", ["A", "é", "😀"], ["a"]),
    ("root ::= .", ["a", "\n", "日"], ["", "ab"]),
    (r'root ::= "\t\r\n\\\"\x41\u00e9\U0001F600"', ['\t\r\n\\"Aé😀'], [""]),
    ('root ::= "ab"*', ["", "ab", "abab"], ["a", "aba"]),
    ('root ::= "a"+ "b"?', ["a", "aab"], ["", "b", "abb"]),
    ('root ::= "a"{2}', ["aa"], ["a", "aaa"]),
    ('root ::= "a"{2,}', ["aa", "aaaa"], ["a"]),
    ('root ::= "a"{1,2}', ["a", "aa"], ["", "aaa"]),
    ('root ::= "a"{0}', [""], ["a"]),
    ('root ::= ("a" | "b" "c")* "d"', ["d", "abcad"], ["bd"]),
    ('root ::= "a"+?', ["", "a", "aa"], ["b"]),
    ('root ::= "a" | # one\n  "b"', ["a", "b"], ["ab"]),
    ('root ::= "a"\n  | "b"\n', ["a", "b"], ["ab"]),
    ('root ::= (\n  "a" # one\n  "b"\n)+\n# end', ["ab", "abab"], ["a"]),
    ('root ::=\n  "a" b-1\r\nb-1 ::= [0-9]\r\n', ["a1"], ["a", "ab"]),
    ('# first\n\nroot ::= x "!"\nx ::= "a" x | "b"', ["b!", "aab!"], ["a!", "b"]),
    ('root ::= root "a" | "b"\n', ["b", "baa"], ["a", "ab", ""]),
    ('root ::= "a" root "b" | ', ["", "ab", "aabb"], ["a", "aab"]),
]


def accepts(grammar: str, text: str) -> bool:
    matcher = Matcher(compile_grammar(grammar, BYTES, "gbnf"))
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.parametrize(("grammar", "accepted", "refused"), MEANINGS)
def test_gbnf_means_what_it_says(grammar, accepted, refused) -> None:
    assert [text for text in accepted if not accepts(grammar, text)] == []
    assert [text for text in refused if accepts(grammar, text)] == []


@pytest.mark.parametrize(
    ("grammar", "line", "column", "fact"),
    [
        ('root ::= "a', 1, 10, "never closed"),
        ("root ::= [a", 1, 10, "never closed"),
        ('root ::= ("a"', 1, 10, "never closed"),
        ('root ::= "a" )', 1, 14, "cannot stand here"),
        ('root ::= "a"\n  other', 2, 8, "'::=' must follow"),
        ('root = "a"', 1, 6, "'::=' must follow"),
        ('= "a"', 1, 1, "begins with its name"),
        ("root ::= *", 1, 10, "nothing to repeat"),
        ('root ::= "a" | | +', 1, 18, "nothing to repeat"),
        ('root ::= "a"{x}', 1, 13, "no count"),
        ('root ::= "a"{3,1}', 1, 13, "out of order"),
        ('root ::= "a"{1,99999999999}', 1, 13, "too large"),
        ("root ::= [z-a]", 1, 11, "out of order"),
        ("root ::= []", 1, 10, "empty"),
        (r'root ::= "\q"', 1, 11, "not known"),
        (r'root ::= "\x4"', 1, 11, "2 hexadecimal digits"),
        (r'root ::= "\uD800"', 1, 11, "no character"),
        ("root ::= <think>", 1, 10, "tokens cannot be named"),
        ('root ::= "a"\n\nroot ::= "b"', 3, 1, "defined twice, first in line 1"),
        ("root ::= item\nItem ::= [0-9]", 1, 10, "no rule 'item'"),
        ('start ::= "a"', 1, 1, "no rule 'root'"),
        ('root ::= a\na ::= "x" a', 1, 1, "has no text"),
        ("root ::= " + "(" * 100, 1, 70, "deeper"),
    ],
)
def test_faults_have_a_line_a_column_and_a_caret(grammar, line, column, fact) -> None:
    with pytest.raises(GrammarError, match=fact) as caught:
        read_gbnf(grammar)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    sentence, shown, caret = str(error).split("\n")
    assert sentence.startswith(f"at line {line}, column {column}: ")
    pointed = caret.index("^") - 2 + max(0, column - 41)
    assert pointed == column - 1
    assert shown.strip() in grammar


def test_rules_that_do_nothing_are_named() -> None:
    grammar = 'root ::= [sign] used\nused ::= "a" | endless\nsign ::= "+"\nendless ::= "x" endless'
    _, remarks = read_gbnf(grammar)
    assert [(r.line, r.column, r.rule, r.text) for r in remarks] == [
        (3, 1, "sign", "the rule 'sign' is never used"),
        (4, 1, "endless", "the rule 'endless' has no text: it can never end"),
        (1, 10, "sign", "[sign] is one of these letters, not an optional 'sign'"),
    ]
    notes = compile_grammar(grammar, BYTES).notes
    assert next((n.pointer, n.keyword, n.answer) for n in notes) == (
        "line 3, column 1",
        "sign",
        "warning",
    )


def test_the_nearest_name_is_told() -> None:
    with pytest.raises(GrammarError, match="did you mean 'Item'"):
        read_gbnf("root ::= item\nItem ::= [0-9]")
