"""Mask times of the five grammars in schemas/grammars, side by side with the peers, in one run.

    python -m tests.bench.grammars TOKENIZER.json [ROUNDS]

All engines take the GBNF files (llguidance through its own converter), the same texts and tokens,
and take turns text by text. A time is one mask, of one token; caches start empty and stay.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from constrain import MaskCache, Matcher, Vocabulary, compile_grammar
from constrain.bitmask import allocate

FOLDER = Path(__file__).parents[2] / "schemas" / "grammars"
TEXTS: dict[str, list[str]] = {
    "json": [
        '{"id": 17, "name": "Ada Lovelace", "tags": ["maths", "engine"], "born": {"year": 1815}}',
        '[{"a": [1, -2.5e3, true, null]}, {"text": "a \\"quoted\\" word, \\u00e9 and é"}, [[[]]]]',
    ],
    "arithmetic": ["1 + 2 * (3 - 4.25) / -5", "((1.5-2)*(3+4))-(5/6)/7*8+(9-10)"],
    "sql": [
        "SELECT name, COUNT(*) AS n FROM orders JOIN users ON user_id = id WHERE price >= 10.5",
        "SELECT DISTINCT a FROM b WHERE c = 'New York' GROUP BY a ORDER BY a DESC LIMIT 20;",
        "SELECT a FROM b WHERE (c = 1 OR (d < 2 AND e IN (SELECT f FROM g WHERE h IS NULL)))",
    ],
    "sexpr": [
        "(define (factorial n) (if (<= n 1) 1 (* n (factorial (- n 1)))))",
        '(let ((x \'(a b . c)) (y "some text")) `(list ,x ,y)) ; done\n',
    ],
    "python": [
        "[f(x, key=lambda y: -y ** 2)[0] for x in items if x.size > 10 and not x.done]",
        "{'a': (1, 2.5), 'b': obj.method(arg, *rest)[1:] + \"text\"} if flag else ((0))",
    ],
}
_BYTES_OF_BPE = [*range(33, 127), *range(161, 173), *range(174, 256)]


class Constrain:
    """This engine."""

    def __init__(self, tokenizer: Tokenizer, end: int) -> None:
        hidden = [b for b in range(256) if b not in _BYTES_OF_BPE]
        byte_of = {chr(b): b for b in _BYTES_OF_BPE}
        byte_of |= {chr(256 + i): b for i, b in enumerate(hidden)}
        tokens: list[bytes | None] = [None] * tokenizer.get_vocab_size()
        added = tokenizer.get_added_tokens_decoder()
        for text, token in tokenizer.get_vocab().items():
            if token not in added:
                tokens[token] = bytes(byte_of[c] for c in text)
        self._vocabulary = Vocabulary.of(tokens, [end])
        self._mask = allocate(1, self._vocabulary.size)

    def compile(self, grammar: str) -> MaskCache:
        return MaskCache(compile_grammar(grammar, self._vocabulary, "gbnf"))

    def start(self, compiled: MaskCache) -> Matcher:
        return Matcher(compiled.compiled, compiled)

    def fill(self, matcher: Matcher) -> None:
        matcher.fill_next_token_bitmask(self._mask)

    def accept(self, matcher: Matcher, token: int) -> bool:
        return matcher.accept_token(token)


class Llguidance:
    """The peer of Rust."""

    def __init__(self, path: Path, end: int, size: int) -> None:
        import llguidance

        self._module = llguidance
        self._tokenizer = llguidance.LLTokenizer(path.read_text("utf-8"), eos_token=end)
        self._mask = np.zeros((size + 31) // 32, dtype=np.int32)

    def compile(self, grammar: str) -> Any:
        from llguidance.gbnf_to_lark import gbnf_to_lark

        text = self._module.LLMatcher.grammar_from_lark(gbnf_to_lark(grammar))
        matcher = self._module.LLMatcher(self._tokenizer, text, log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def start(self, compiled: Any) -> Any:
        return compiled.deep_copy()

    def fill(self, matcher: Any) -> None:
        matcher.unsafe_compute_mask_ptr(self._mask.ctypes.data, self._mask.nbytes)

    def accept(self, matcher: Any, token: int) -> bool:
        return bool(matcher.consume_token(token))


class Xgrammar:
    """The peer of C++."""

    def __init__(self, tokenizer: Tokenizer, end: int) -> None:
        import xgrammar

        self._module = xgrammar
        size = tokenizer.get_vocab_size()
        vocabulary = [tokenizer.id_to_token(i) or "" for i in range(size)]
        info = xgrammar.TokenizerInfo(
            vocabulary, xgrammar.VocabType.BYTE_LEVEL, vocab_size=size, stop_token_ids=[end]
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self._mask = xgrammar.allocate_token_bitmask(1, size)

    def compile(self, grammar: str) -> Any:
        return self._compiler.compile_grammar(grammar)

    def start(self, compiled: Any) -> Any:
        return self._module.GrammarMatcher(compiled)

    def fill(self, matcher: Any) -> None:
        matcher.fill_next_token_bitmask(self._mask)

    def accept(self, matcher: Any, token: int) -> bool:
        return bool(matcher.accept_token(token))


def _timed(engine: Any, compiled: Any, ids: list[int]) -> list[float]:
    matcher, times = engine.start(compiled), []
    for token in ids:
        begin = time.perf_counter()
        engine.fill(matcher)
        times.append(1e6 * (time.perf_counter() - begin))
        if not engine.accept(matcher, token):
            raise ValueError(f"{type(engine).__name__} refuses token {token}")
    return times


def _compiled(compile_it: Callable[[str], Any], grammar: str) -> tuple[Any, float, str]:
    begin = time.perf_counter()
    try:
        compiled, fault = compile_it(grammar), ""
    except Exception as error:  # noqa: BLE001  peers raise classes of their own
        compiled, fault = None, str(error).split("\n")[0][:70]
    return compiled, 1e3 * (time.perf_counter() - begin), fault


def main(path: Path, rounds: int) -> None:
    """Print a table: per grammar and engine the time to compile and of the masks."""
    tokenizer = Tokenizer.from_file(str(path))
    end = tokenizer.token_to_id("<|eot_id|>")
    engines = [
        Constrain(tokenizer, end),
        Llguidance(path, end, tokenizer.get_vocab_size()),
        Xgrammar(tokenizer, end),
    ]
    engines[0].fill(engines[0].start(engines[0].compile('root ::= "a" | [^"]+')))  # jits
    print(
        f"{'grammar':11} {'engine':11} {'compile ms':>10} {'masks':>6} {'p50 us':>8} {'p99 us':>8}"
    )
    for name, texts in TEXTS.items():
        grammar = (FOLDER / f"{name}.gbnf").read_text("utf-8")
        built = [_compiled(engine.compile, grammar) for engine in engines]
        times: list[list[float]] = [[] for _ in engines]
        faults = [fault for _, _, fault in built]
        for ids in [tokenizer.encode(t, add_special_tokens=False).ids for t in texts] * rounds:
            for number, engine in enumerate(engines):
                if not faults[number]:
                    try:
                        times[number] += _timed(engine, built[number][0], ids)
                    except ValueError as error:
                        faults[number] = str(error)
        for engine, (_, spent, _), fault, taken in zip(engines, built, faults, times, strict=True):
            head = f"{name:11} {type(engine).__name__:11} {spent:10.1f}"
            if fault:
                print(head, fault)
            else:
                p50, p99 = np.percentile(taken, [50, 99])
                print(f"{head} {len(taken):6} {p50:8.1f} {p99:8.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
