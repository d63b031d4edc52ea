"""Lark's EBNF against Lark itself (Earley, dynamic lexer), and what is said about faults."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import LarkError, UnexpectedInput

from constrain import MaskCache, Matcher, compile_grammar
from constrain.errors import ConstraintError, GrammarError, LimitExceeded
from constrain.limits import Limits
from constrain.syntax.lark import read_lark
from constrain.syntax.lark_common import COMMON
from tests.conformance.vocabularies import BYTES

JSON = r"""
?start: value
?value: object | array | string | SIGNED_NUMBER -> number | "true" | "false" | "null"
array: "[" [value ("," value)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: string ":" value
string: ESCAPED_STRING
%import common (ESCAPED_STRING, SIGNED_NUMBER)
%import common.WS
%ignore WS
"""
SQL = r"""
start: "select"i cols "from"i NAME [where] ";"?
cols: "*" | NAME ("," NAME)*
where: "where"i cond
?cond: cond "and"i cond | NAME OP NUMBER
OP: "=" | "<" | "<=" | ">"
NAME: /[a-z_]\w*/i
NUMBER: /\d+/
%ignore /\s+/
"""
KEYWORDS = 'start: ("if" NAME | NAME "=" NUM)+\nNAME: /[a-z]+/\nNUM: /[0-9]+(\\.[0-9]+)?/\n'

SAMPLES: list[tuple[str, Sequence[str]]] = [
    (JSON, ["[", "]", "{", "}", ":", ",", '"', "\\", "a", "1", ".", "-", "e", " ", '"a"', "true"]),
    (SQL, ["select ", "from ", "a", "and", " ", "where ", "x", "1", "<", "=", ",", "*", ";"]),
    ('start: NAME NAME\nNAME: /[a-c]+/\n%ignore " "\n', "abc "),
    (KEYWORDS + '%ignore " "\n', ["if", "a", " ", "=", "1", ".", "x", "f"]),
    ('start: (S ",")* S\nS: /".*?"/\n', '",a'),
    ('start: (S ",")* S\nS: /".*"/\n', '",a'),
    ('start: "a"*\nC: "/*" /(.|\\n)*?/ "*/"\n%ignore C\n%ignore " "\n', "/*a "),
    ('start: (NAME | "ab")+ "!"\nNAME: /(?!ab\\b)[a-c]+/\n%ignore " "\n', "abc! "),
    (
        'start: s{x,","} s{"b",";"}\ns{a,d}: a (d a)*\nx: "a" | "(" s{x,"+"} ")"\n',
        ",ab;(+)",
    ),
    ('start: e\ne: e "+" e | e e | A\nA: "a"+\n', "a+"),
    ('start: "a".."c" ~ 2..3 | /x/i "Y"i\n', "abcxXyY"),
    ('start: (A|B)+\nA: "a" | "ab"\nB: /b|bc/ "c"\n', "abc"),
    ('start: N (op N)* \nop: "-" | "." | "e"\nN: /-?\\d+(\\.\\d+)?(e[+-]?\\d+)?/\n', "-1.e+"),
    ('start: (N ~ 2..3 "x")+\nN: /a+b?/\n%ignore "_"\n', "abx_"),
    ('start: W* "."\nW: /a{2,4}?(?=b|\\.)|b+/\n', "ab."),
    ('start: "a" b?\nb: c c\nc: b "x" | \n', "ax"),
    ('%import common.INT -> N\n%extend N: "x"\nstart: "a"\n', "a"),
    ('A.2: "a"\nstart: A | B\nB.-1: /a+/ // one\n# two\n  | "b"\n!?r: A -> x\n', "ab"),
    ('start: /a b # c\n [ ] d/x "\\n" "\\x41" "\\\\"\n', ["ab d", "\n", "A", "\\", "a"]),
]


def _accepts(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except UnexpectedInput:
        return False
    except RuntimeError as error:
        assert "Please report this bug" in str(error)  # noqa: PT017
        reject()
    return True


class _Pair:
    """One grammar, read by us and by Lark."""

    def __init__(self, grammar: str, limits: Limits | None = None) -> None:
        self._lark = Lark(grammar, parser="earley")
        self._masks = MaskCache(compile_grammar(grammar, BYTES, "lark", limits))

    @property
    def is_strict(self) -> bool:
        """Whether something ignored must stand where Lark needs none."""
        return any("must always stand" in note.text for note in self._masks.compiled.notes)

    def ours(self, text: str) -> bool:
        matcher = Matcher(self._masks.compiled, self._masks)
        return matcher.accept_bytes(text.encode()) and matcher.is_accepting()

    def theirs(self, text: str) -> bool:
        return _accepts(self._lark, text)

    def differing(self, texts: Sequence[str]) -> list[str]:
        return [text for text in texts if self.ours(text) != self.theirs(text)]


def _texts(alphabet: Sequence[str], count: int, seed: int = 1) -> list[str]:
    chosen = random.Random(seed)
    return ["".join(chosen.choices(alphabet, k=chosen.randint(0, 9))) for _ in range(count)]


@pytest.mark.parametrize(("grammar", "alphabet"), SAMPLES[:-3])
def test_random_texts_are_judged_as_lark_judges_them(grammar: str, alphabet: Sequence[str]) -> None:
    assert _Pair(grammar).differing(_texts(alphabet, 400)) == []


@pytest.mark.parametrize(("grammar", "alphabet"), SAMPLES[-2:])
def test_odd_spellings_are_read_as_lark_reads_them(grammar: str, alphabet: Sequence[str]) -> None:
    pair = _Pair(grammar)
    texts = _texts(alphabet, 300)
    assert pair.differing(texts) == []
    assert any(map(pair.ours, [*texts, "abd\nA\\", "ab d\nA\\"]))


@pytest.mark.parametrize(
    ("grammar", "accepted", "refused"),
    [
        (JSON, ['{"a": [1, -2.5e3, "x\\"y"], "b": null}', " [ ] "], ['"a"b"', "[1,]", "1 2"]),
        (SQL, ["select a from b", "SELECT*FROM x where y<=1 and z=2;"], ["select afrom b"]),
        (KEYWORDS + '%ignore " "\n', ["ifa", "if if", "x=1 if y"], ["a = 1.", "if"]),
        ('start: "a" "b"\n%ignore "-"', ["ab", "a--b", "-ab-"], ["a", "-"]),
    ],
)
def test_lark_means_what_it_says(grammar, accepted, refused) -> None:
    pair = _Pair(grammar)
    for text in accepted:
        assert pair.ours(text), text
        assert pair.theirs(text), text
    for text in refused:
        assert not pair.ours(text), text
        assert not pair.theirs(text), text


_COMMON_NAMES = re.findall(r"^([A-Z]\w*):", COMMON, re.MULTILINE)
_COMMON_ALPHABET = ["a", "F", "_", "1", "0", ".", "e", "-", "+", '"', "\\", " ", "\t", "\n", "\r"]
_COMMON_ALPHABET += ["\f", "/", "*", "#", "//", "/*", "*/", "--", "é"]


@pytest.mark.parametrize("name", _COMMON_NAMES)
def test_what_common_gives_is_what_lark_gives(name: str) -> None:
    grammar = f'start: {name} /[-.e+a1"]/?\n%import common.{name}\n'
    assert _Pair(grammar).differing(_texts(_COMMON_ALPHABET, 300)) == []


def test_common_is_whole() -> None:
    from importlib.resources import files

    import lark.grammars as theirs

    text = files(theirs).joinpath("common.lark").read_text()
    names = re.findall(r"^([A-Z_]\w*)\s*:", text, re.MULTILINE)
    assert set(names) == set(re.findall(r"^([A-Z_]\w*):", COMMON, re.MULTILINE))


@st.composite
def lark_grammars(draw: st.DrawFn) -> str:
    """Grammars of any shape over a, b and blanks: recursion anywhere, words, patterns, ignoring."""
    names = ["start", "t", "u"][: draw(st.integers(1, 3))]
    literals = ['"a"', '"b"', '"ab"', "/a+/", "/ab?/", "/a|ab/", "/b*?a/", "A", "A"]
    atoms = st.sampled_from([*names, *literals])
    rows = st.lists(atoms, max_size=3).map(" ".join)
    grouped = st.lists(rows, min_size=1, max_size=2).map(lambda rs: f"({' | '.join(rs)})")
    signs = st.sampled_from(["", "", "?", "*", "+", " ~ 2", " ~ 1..2"])
    parts = st.tuples(grouped | atoms, signs).map("".join).filter(lambda p: "()" not in p)
    bodies = st.lists(st.lists(parts, max_size=3).map(" ".join), min_size=1, max_size=3)
    lines = [f"{name}: {' | '.join(draw(bodies))}" for name in names]
    lines.append(f"A: {draw(st.sampled_from(['/[ab]/', '/ba*/', '/aa|a/']))}")
    lines += draw(st.sampled_from([[], ['%ignore " "'], ["%ignore /b?_+/"]]))
    return "\n".join(lines) + "\n"


def judged_alike(grammar: str, texts: Sequence[str]) -> bool:
    """Return whether both say the same of all texts; rejects what either cannot take.

    A grammar without texts is an error with us."""
    try:
        pair = _Pair(grammar)
    except (LarkError, GrammarError, LimitExceeded):
        reject()
    except ConstraintError as error:
        assert "no text" in str(error)  # noqa: PT017
        parser = Lark(grammar, parser="earley")
        assert not any(_accepts(parser, text) for text in texts)
        return True
    try:
        differing = pair.differing(texts)
        if pair.is_strict:
            differing = [text for text in differing if pair.ours(text)]
        assert differing == []
    except LimitExceeded:  # nested repetitions of rules that may be empty
        reject()
    return True


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(lark_grammars(), st.lists(st.text("ab _", max_size=7), min_size=40, max_size=40))
def test_random_grammars_are_judged_as_lark_judges_them(grammar: str, texts: list[str]) -> None:
    assert judged_alike(grammar, texts)


@pytest.mark.parametrize(
    ("grammar", "line", "column", "fact"),
    [
        ('start: "a', 1, 8, "never closed"),
        ("start: /a", 1, 8, "never closed"),
        ("start: ('a')", 1, 9, "means nothing"),
        ('start: ("a"', 1, 8, "never closed"),
        ('start: "a" )', 1, 12, "cannot stand here"),
        ('start "a"', 1, 7, "':' must follow"),
        ("start: b", 1, 8, "no rule 'b'"),
        ("start: B", 1, 8, "no terminal 'B'"),
        ('start: "a"\nstart: "b"', 2, 1, "defined twice"),
        ('start: ""', 1, 8, "cannot be empty"),
        ("start: /a*/", 1, 8, "cannot be empty"),
        ("start: /(/", 1, 8, "in the pattern"),
        (r"start: /(a)\1/", 1, 8, "in the pattern"),
        ("start: A\nA: B\nB: A", 3, 4, "contains itself"),
        ("start: A\n%declare A", 2, 1, "declared terminal"),
        ("start: A\n%import python.A", 2, 9, "no library"),
        ("start: A\n%import common.A", 2, 9, "has no 'A'"),
        ("start: A\n%import .x.A", 2, 9, "not read"),
        ('start: "a"\n%ignore start', 2, 9, "only terminals"),
        ('start: x{"a"}', 1, 8, "no template"),
        ('start: x{"a"}\nx{a,b}: a b', 1, 8, "2 arguments"),
        ("start: x\nx{a}: a", 1, 8, "1 arguments"),
        ('start: x{"a"}\nx{a}: a y{x{a}}\ny{a}: x{y{a}} | "b"', 3, 7, "ever other arguments"),
        ('start: "a" ~ 3..1', 1, 12, "out of order"),
        ('start: "z".."a"', 1, 8, "out of order"),
        ('%override start: "a"', 1, 11, "no 'start' before it"),
        ("start: start", 1, 1, "has no text"),
        ('begin: "a"', 1, 1, "no rule 'start'"),
        ('start: "a"\n%strange', 2, 1, "no statement"),
        (r'start: "\xZZ"', 1, 9, "hexadecimal"),
        ("start: /a/l", 1, 8, "locale"),
    ],
)
def test_faults_have_a_line_and_a_column(grammar, line, column, fact) -> None:
    with pytest.raises(GrammarError, match=fact) as caught:
        read_lark(grammar, Limits())
    assert (caught.value.line, caught.value.column) == (line, column)


def test_rules_and_terminals_that_do_nothing_are_named() -> None:
    grammar = 'start: a\na: "x" | b\nb: "y" b\nc: "z"\nD: "d"\n%import common.INT\n'
    _, remarks = read_lark(grammar, Limits())
    assert [(r.line, r.rule) for r in remarks] == [(3, "b"), (4, "c"), (5, "D")]


def test_names_beside_keywords_in_many_rules_need_something_between_and_it_is_said() -> None:
    levels = "\n".join(f'?e{i}: e{i} "o{i}" e{i + 1} | e{i + 1}' for i in range(9))
    grammar = f'start: e0\n{levels}\n?e9: NAME | "(" e0 ")"\nNAME: /[a-z0-9]+/\n%ignore " "\n'
    pair = _Pair(grammar)
    assert pair.is_strict
    for text in ("a o1 b", "((a) o2 (b))", "(a)o3 b", "ao1 b", "a o1b"):
        assert pair.ours(text) <= pair.theirs(text)
    assert pair.ours("a o1 b")
    assert pair.ours("((a) o2 (b))")
    assert not pair.ours("(a)o3 b")  # Lark takes it
