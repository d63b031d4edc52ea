"""The grammars in schemas/grammars, in both formats: what each accepts, at any length."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from lark import Lark

from constrain import MaskCache, Matcher, compile_grammar
from constrain.bitmask import words
from tests.conformance.vocabularies import BYTES
from tests.fakes import toy_vocabulary

FOLDER = Path("schemas/grammars")
TEXTS: dict[str, tuple[list[str], list[str]]] = {
    "json": (
        ["{}", '{"a": [1, -2.5e+3, "x\\"\\u00e9é", null], "b": {"c": true}}', "[[[]]]", " 0 "],
        ["", "{", '{"a": 1,}', "[1,]", "01", "'a'", '{"a" 1}', '"\n"', "nul", '"\\x"', "1 2"],
    ),
    "arithmetic": (
        ["1", "1 + 2 * 3", "-(1.5 - 2)/4", "1-1-1-1", "((2))", "--1", "1 * -2"],
        ["", "1 +", "+1", "1 1", "(1", "1)", "1.", "()", "1 ** 2", "a"],
    ),
    "sql": (
        [
            "SELECT * FROM orders",
            "SELECT DISTINCT name, COUNT(*) AS n FROM t AS u WHERE a.b >= 3 AND NOT c = 'it''s';",
            "SELECT a FROM (SELECT b FROM c) AS d JOIN e ON d.b = e.b WHERE b IN (1, 2)",
            "SELECT a FROM b WHERE (c = 1 OR (d < 2 AND e IN (SELECT f FROM g))) LIMIT 10",
            "SELECT a FROM b WHERE c IS NOT NULL OR d IS NULL ORDER BY a DESC",
            "SELECT MAX(a) FROM b WHERE c LIKE 'x%' GROUP BY d, e",
        ],
        [
            "",
            "SELECT FROM t",
            "SELECT a b FROM t",
            "SELECT * FROM",
            "SELECT a FROM t WHERE",
            "SELECT a FROM t WHERE a =",
            "SELECT a FROM t WHERE (a = 1",
            "DROP TABLE t",
            "SELECT a FROM t LIMIT x",
            "SELECT a FROM t WHERE b = 'x",
        ],
    ),
    "sexpr": (
        ["", "()", "(define (f x) (* x 2))", "'(a . b)", '(print "a\\"b" `(x ,y)) ; done\n', "a b"],
        ["(", ")", "(a . )", "(a . b c)", '"a', "'", "; open"],
    ),
    "python": (
        [
            "x",
            "a.b(c, d=1, *e)[0][1:]",
            "(1, 2)",
            "((((1))))",
            "((((1,),),),)",
            "lambda x: x if x > 0 else -x",
            "not a and b or c in [1, 2]",
            "{'k': v, 'l': [y for y in z if y]}",
            "-2 ** -x % 3 // 4",
            'f("a\\"b") == \'c\'',
        ],
        ["", "1 +", "(1, 2", "a..b", "f(,)", "lambda: ", "[1, 2", "x = 1", "a if b", "01"],
    ),
}
_STRICT = "something ignored must always stand"
CASES = [(name, kind) for name in TEXTS for kind in ("gbnf", "lark")]
LONG = {
    "json": "[" * 3000 + "1" + "]" * 3000,
    "arithmetic": "1-" * 3000 + "(" * 2000 + "1" + ")" * 2000,
    "sql": "SELECT a FROM b WHERE " + "(" * 1000 + "c=1" + ")" * 1000 + " AND c=1 OR d=2" * 500,
    "sexpr": "('(" * 1500 + "x" + "))" * 1500,
    "python": "(" * 1000 + "1" + ",)" * 1000 + " + a.b(c)[1]" * 300,
}


def _masks(name: str, kind: str) -> MaskCache:
    text = (FOLDER / f"{name}.{kind}").read_text(encoding="utf-8")
    compiled = compile_grammar(text, BYTES)
    assert {note.text.split(" before")[0] for note in compiled.notes} <= {_STRICT}
    return MaskCache(compiled)


def _accepts(masks: MaskCache, text: str) -> bool:
    matcher = Matcher(masks.compiled, masks)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_grammar_accepts_and_refuses_the_texts_of_its_table(name: str, kind: str) -> None:
    masks = _masks(name, kind)
    accepted, refused = TEXTS[name]
    assert [text for text in accepted if not _accepts(masks, text)] == []
    assert [text for text in refused if _accepts(masks, text)] == []


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_long_and_deep_text_takes_few_configurations(name: str, kind: str) -> None:
    masks = _masks(name, kind)
    lazy, most = masks.lazy, 0
    node = lazy.start
    data = LONG[name].encode()
    for start in range(0, len(data), 211):
        node = lazy.step(node, data[start : start + 211])
        assert node >= 0
        most = max(most, len(lazy.describe(node)[1]))
    assert lazy.is_accepting(node)
    assert most < 40


@pytest.mark.parametrize("name", TEXTS)
def test_sampled_texts_are_in_the_language_lark_reads(name: str) -> None:
    text = (FOLDER / f"{name}.lark").read_text(encoding="utf-8")
    parser = Lark(text, parser="earley")
    vocabulary = toy_vocabulary()
    masks = MaskCache(compile_grammar(text, vocabulary))
    for seed in range(12):
        parser.parse(_sampled(masks, random.Random(seed)))


def _sampled(masks: MaskCache, chosen: random.Random) -> str:
    """Take random tokens for a while, then those that come nearer to an end."""
    vocabulary = masks.compiled.vocabulary
    matcher = Matcher(masks.compiled, masks)
    taken = b""
    while not matcher.is_terminated():
        row = np.zeros((1, words(vocabulary.size)), dtype=np.int32)
        matcher.fill_next_token_bitmask(row)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")[: vocabulary.size]
        ids = np.flatnonzero(bits).tolist()
        ids = [i for i in ids if i in vocabulary.eos_ids or _is_ascii(vocabulary.tokens[i])]
        token = chosen.choice(ids) if len(taken) < 15 else _nearest(matcher, ids)
        assert matcher.accept_token(token)
        taken += vocabulary.tokens[token] or b""
    return taken.decode()


def _is_ascii(token: bytes | None) -> bool:
    return token is not None and token.isascii()


def _nearest(matcher: Matcher, ids: list[int]) -> int:
    def distance(token: int) -> int:
        twin = matcher.fork()
        twin.accept_token(token)
        return -1 if twin.is_terminated() else twin.distance_to_accept()

    return min(ids, key=distance)
