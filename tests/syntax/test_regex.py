"""What patterns mean, against hand-made expectations and against Python's `re`."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from constrain.errors import RegexError
from constrain.syntax.regex import parse_regex, parse_search
from tests.syntax.oracle import is_member

WHOLE = [
    ("abc", ["abc"], ["ab", "abcd", ""]),
    ("", [""], ["a"]),
    ("a|", ["a", ""], ["b"]),
    ("(a|)b", ["ab", "b"], ["a"]),
    ("a{2}", ["aa"], ["a", "aaa"]),
    ("a{2,}", ["aa", "aaaa"], ["a"]),
    ("a{1,2}", ["a", "aa"], ["", "aaa"]),
    ("a{,2}", ["", "aa"], ["aaa", "a{,2}"]),
    ("a+?b*?", ["a", "aab"], ["b"]),
    (r"\d+", ["12", "১২"], ["a", ""]),
    (r"\w", ["Ł", "_", "9"], ["-"]),
    (r"\s", [" ", "\u2003", "\x1f"], ["a"]),
    (".", ["a", "\r", "\u2028"], ["\n", "ab"]),
    ("(?s).", ["\n"], [""]),
    (r"[\w.-]+", ["a-b.c"], ["a b"]),
    ("[]a]", ["]", "a"], ["b"]),
    ("[^]a]", ["b"], ["]", "a"]),
    (r"[\d-x]", ["5", "-", "x"], ["a"]),
    ("(?i)straße", ["STRAßE", "straẞe", "ſtraße"], ["strasse"]),
    ("(?i:a)b", ["Ab", "ab"], ["aB"]),
    ("(?i)[^a]", ["b"], ["A", "a"]),
    ("(?P<year>[0-9]{4})-(?:0|1)", ["2024-1"], ["2024-2"]),
    (r"^abc$", ["abc"], ["abc\n"]),
    (r"\Aabc\Z", ["abc"], ["abcd"]),
    (r"a(?#comment)b", ["ab"], []),
    (r"(?!admin)[a-z]{3,8}", ["guest", "adm", "xadmin"], ["admin", "admins", "ab"]),
    ("[😀-🙏]+", ["😨😨", "🙏"], ["🚀", ""]),
    (r"\p{Lu}\p{Ll}*", ["Éa", "A"], ["a", "1"]),
    (r"\P{L}", ["1"], ["a"]),
    (r"\U0001F600\x41", ["😀A"], []),
    (r"(?a)\d\w\s", ["1a "], ["১a ", "1Ł "]),
]

SEARCH = [
    ("abcd", ["abcd", "xabcdy"], ["abc", ""]),
    ("^abcd", ["abcdy"], ["xabcd"]),
    ("abcd$", ["xabcd"], ["abcdy", "abcd\n"]),
    (r"^$|^https://x\.com/", ["", "https://x.com/", "https://x.com/a?b"], ["http://x.com/", " "]),
    ("(?:$a|aa$)", ["aa", "baa"], ["a"]),
    ("(^a|b)c$", ["ac", "bc", "xxbc"], ["xac", "c"]),
    ("a^b", [], ["ab", "a^b"]),
    ("a$b|c", ["c", "xcx"], ["ab", "a"]),
    (r"^\d+$", ["12"], ["১২", "", "1a"]),
    (r"^\w+$", ["L_9"], ["Ł"]),
    (r"^\s$", ["\ufeff", "\u2028", " "], ["\x1f", "\x85"]),
    ("^.$", ["a", "\x85"], ["\n", "\r", "\u2028", "\u2029"]),
    (r"^[\u0041-\u005a]\u{1F600}\ud83d\ude00$", ["A😀😀"], ["a😀😀"]),
    (r"^[\ud83d\ude00-\ud83d\ude02]$", ["😁"], ["😃"]),
    (r"^\-\@\_\/\'\"\ \#$", ["-@_/'\" #"], []),
    (r"^]{}a{,2}$", ["]{}a{,2}"], ["]{}aa"]),
    ("^{a}$", ["{a}"], []),
    (r"^\cA\x0a\0$", ["\x01\n\x00"], []),
    (r"^[^]$", ["a", "\n"], [""]),
    ("^[]$", [], ["", "a"]),
    (r"^[\w-.]$", ["-", ".", "a"], ["+"]),
    (r"^[\b]$", ["\b"], ["b"]),
    ("(?<year>a)", ["xax"], ["b"]),
    (r"^a\b.c$", ["a c", "a-c"], ["abc", "a_c"]),
    (r"\bcat\b", ["cat", "a cat!", "cat"], ["concat", "cats"]),
    (r"a\Bb", ["ab", "cabd"], ["a b"]),
    (r"^(?=.*\d)(?=.*[a-z]).{4,}$", ["abc1", "1abcd"], ["abcd", "1234", "a1"]),
    (r"^(?!.*--)[a-z-]+$", ["a-b"], ["a--b", ""]),
    (r"^(?!ab)[a-z]+$", ["ba", "a"], ["abc"]),
    ("foo(?!bar)", ["foo", "foobaz", "foobarfoo"], ["foobar"]),
    ("(?<!a)b", ["b", "cb", "abb"], ["ab", "a"]),
    ("(?<=a)b", ["ab", "xab"], ["b", "bb"]),
    ("^((?!foo).)*$", ["", "fo", "barfo"], ["foo", "xfoox"]),
    ("^(?:(?!ab)[a-c])+c$", ["cc", "bac", "aac"], ["abc", "aabc"]),
    (r"^(?:\b\w+\b ?)+$", ["ab cd", "ab"], ["ab  cd", " a"]),
    ("^(?:a(?=b)|b)+$", ["ab", "b", "abab"], ["a", "aab"]),
    ("^(?:(?<=^|a)b|a)*$", ["", "ab", "ba", "bab"], ["bb", "abb"]),
    (r"((?:[^/]*/)*)(?=\.(yaml|yml|json))", ["a/.yaml", ".json"], ["a.txt"]),
    (r"(?i)^abc$", ["ABC", "aBc"], ["ABD"]),
    (r"(?m)^b$", ["a\nb", "b\nc"], ["ab"]),
    (r"^\p{Letter}+\p{digit}$", ["Łé5"], ["5"]),
    (r"^(?!\s*$).+", ["a", " a"], ["", " "]),
    (r"^(?![ \t\n]*\(default(.*)\))[\s\S]*", ["x", "(defaul)"], [" (default x)"]),
]

REFUSED = [
    (r"(a)\1", 3),
    (r"(?<x>a)\k<x>", 7),
    ("(?>a)", 0),
    ("a++", 2),
    ("a**", 2),
    ("*a", 0),
    ("a|?", 2),
    ("(a", 0),
    ("a)", 1),
    ("[a", 0),
    ("[b-a]", 1),
    ("a{3,2}", 1),
    ("a{99999999999999999999}", 1),
    ("a\\", 1),
    (r"\p{Script=Greek}", 0),
    (r"\p", 0),
    (r"\q", 0),
    (r"\u12", 0),
    (r"\u{110000}", 0),
    ("(?x)a b", 0),
    ("(" * 500 + ")" * 500, 100),
    ("(" * 500, 100),
    ("(?P=x)", 0),
    ("(?R)", 0),
]


@pytest.mark.parametrize(("pattern", "inside", "outside"), WHOLE)
def test_a_whole_pattern_holds_exactly_its_texts(pattern, inside, outside):
    expr = parse_regex(pattern)
    assert [t for t in inside if not is_member(expr, t)] == []
    assert [t for t in outside if is_member(expr, t)] == []


@pytest.mark.parametrize(("pattern", "inside", "outside"), SEARCH)
def test_a_searched_pattern_may_match_anywhere_but_for_its_assertions(pattern, inside, outside):
    expr = parse_search(pattern)
    assert [t for t in inside if not is_member(expr, t)] == []
    assert [t for t in outside if is_member(expr, t)] == []


@pytest.mark.parametrize(("pattern", "position"), REFUSED)
def test_what_is_not_a_regular_pattern_is_refused_with_its_column(pattern, position):
    with pytest.raises(RegexError) as caught:
        parse_search(pattern)
    assert caught.value.position == position
    assert caught.value.remedy
    assert "^" in str(caught.value)


@pytest.mark.parametrize("pattern", [r"\h", r"\Qa\E", r"[\q]", "(?(1)a|b)"])
def test_the_unicode_dialect_refuses_what_it_does_not_know(pattern):
    with pytest.raises(RegexError):
        parse_regex(pattern)


def test_ascii_patterns_build_no_unicode_table(monkeypatch):
    import unicodedata

    def fail(_):
        raise AssertionError

    monkeypatch.setattr(unicodedata, "category", fail)
    expr = parse_search(r"^[a-z0-9_]+\d\w\s\b.$")
    assert is_member(expr, "a1b c")


# ---------------------------------------------------------------------- against Python's re

_CHARS = st.sampled_from(["a", "b", "-", ".", "[ab]", "[^a]", r"\w", r"\W", "ab", r"[b-]"])
_EDGES = st.sampled_from(["^", "$", r"\b"])
_COUNTS = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?", "{0,1}", "{2,}"])
_TEXTS = st.lists(st.text("ab-", max_size=6), min_size=1, max_size=25, unique=True)


def _extended(inner):
    grouped = inner.map("(?:{})".format)
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda xs: "(?:" + "|".join(xs) + ")"),
        st.tuples(grouped, _COUNTS).map("".join),
        st.tuples(st.sampled_from(["(?=", "(?!"]), inner, st.just(")")).map("".join),
    )


_LOOKBEHIND = st.tuples(
    st.sampled_from(["(?<=", "(?<!"]), st.sampled_from(["a", "b", "ab", "[ab]-", "^", "."])
).map(lambda pair: "".join(pair) + ")")
_LEAVES = st.one_of(_CHARS, _CHARS, _CHARS, _EDGES, _LOOKBEHIND)
_PATTERNS = st.recursive(_LEAVES, _extended, max_leaves=8)


def _agree(pattern, texts, parse, match):
    try:
        compiled = re.compile(pattern.replace("$", r"\Z"))
        expr = parse(pattern, dialect="unicode")
    except (RegexError, re.error):
        assume(False)
    for text in texts:
        assert is_member(expr, text) == bool(match(compiled, text)), (pattern, text)


@settings(max_examples=400, deadline=None)
@given(_PATTERNS, _TEXTS)
def test_whole_matches_agree_with_fullmatch(pattern, texts):
    _agree(pattern, texts, parse_regex, re.Pattern.fullmatch)


@settings(max_examples=400, deadline=None)
@given(_PATTERNS, _TEXTS)
def test_searches_agree_with_search(pattern, texts):
    _agree(pattern, texts, parse_search, re.Pattern.search)
