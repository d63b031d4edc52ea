"""Hypothesis strategies: expressions, grammars, vocabularies and texts for the engine's proofs."""

from __future__ import annotations

from hypothesis import strategies as st

from constrain.syntax.charset import CharSet
from constrain.syntax.expr import (
    EMPTY,
    Chars,
    Divisible,
    Expr,
    Grammar,
    JsonString,
    Ref,
    alt,
    complement,
    conjunction,
    literal,
    repeat,
    seq,
)
from constrain.vocabulary import Vocabulary

ALPHABET = 'ab"\\\né日😀'
EOS = 300

_char = st.sampled_from(ALPHABET)
_texts = st.text(alphabet=ALPHABET, min_size=1, max_size=3)
_charsets = st.sampled_from(
    [
        CharSet.from_chars("ab"),
        CharSet.from_chars("a\n"),
        CharSet.of([(0x61, 0x63), (0xE0, 0xEF)]),
        CharSet.of([(0x65E0, 0x65E9), (0x1F5F0, 0x1F610)]),
        CharSet.of([(0x00, 0x7F)]),
    ]
)
_leaves = _texts.map(literal) | _charsets.map(Chars) | st.just(EMPTY)


def _combined(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    counts = st.tuples(st.integers(0, 3), st.none() | st.integers(0, 4))
    pairs = st.lists(inner, min_size=2, max_size=3)
    return (
        pairs.map(lambda items: seq(*items))
        | pairs.map(lambda items: alt(*items))
        | st.builds(
            lambda item, bounds: repeat(
                item, bounds[0], None if bounds[1] is None else bounds[0] + bounds[1]
            ),
            inner,
            counts,
        )
    )


plain_exprs = st.recursive(_leaves, _combined, max_leaves=6)
"""Regular expressions without set algebra."""

regular_exprs = st.recursive(
    _leaves | st.builds(Divisible, st.integers(1, 4), st.integers(0, 2)),
    lambda inner: (
        _combined(inner)
        | st.lists(inner, min_size=2, max_size=2).map(conjunction)
        | inner.map(complement)
    ),
    max_leaves=5,
)
"""Regular expressions with intersection and complement."""


@st.composite
def counted_exprs(draw: st.DrawFn) -> Expr:
    """Repetitions too large to be copied out, so that they are counted."""
    item = draw(plain_exprs.filter(lambda e: e != EMPTY))
    least = draw(st.integers(0, 30))
    most = draw(st.none() | st.integers(least, 400))
    return seq(draw(_leaves), repeat(item, least, most), draw(_leaves))


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    """Grammars with recursion at any place but the first: every rule begins with a character."""
    names = [f"r{i}" for i in range(draw(st.integers(1, 3)))]
    reference = st.sampled_from(names).map(Ref)
    piece = plain_exprs | reference | plain_exprs.map(JsonString)

    def body() -> Expr:
        alternatives = [
            seq(literal(draw(_char)), *draw(st.lists(piece, max_size=3)))
            for _ in range(draw(st.integers(1, 3)))
        ]
        return alt(literal(draw(_char)), *alternatives)

    rules = {name: body() for name in names}
    start = draw(st.lists(piece, min_size=1, max_size=2))
    return Grammar(seq(*start, Ref(names[0])), rules)


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    """All 256 bytes, then longer tokens (some doubled, some cutting characters), then specials."""
    whole = st.text(alphabet=ALPHABET, min_size=1, max_size=4).map(str.encode)
    pieces = whole.map(lambda data: data[1:]) | whole.map(lambda data: data[:-1]) | whole
    longer = draw(st.lists(pieces, max_size=40))
    tokens: list[bytes | None] = [bytes([b]) for b in range(256)]
    tokens += longer[: EOS - len(tokens)]
    tokens += [None] * (EOS + 1 - len(tokens))
    return Vocabulary.of([*tokens, b"ab", None], [EOS, EOS + 2], size=EOS + 20)


ALPHABET_OF_TWO = "ab"


@st.composite
def recursive_grammars(draw: st.DrawFn) -> Grammar:
    """Grammars of any shape over two letters: recursion anywhere, empty rules, units, circles."""
    names = ["s", "t", "u"][: draw(st.integers(1, 3))]
    letters = st.sampled_from(ALPHABET_OF_TWO).map(literal)
    atoms = st.sampled_from(names).map(Ref) | letters | st.just(EMPTY)
    bodies = st.recursive(atoms, _combined, max_leaves=6)
    return Grammar(Ref("s"), {name: draw(bodies) for name in names})
