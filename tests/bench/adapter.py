"""Our engine as a MaskBench adapter, for ../shared/bench/maskbench.py and probes.py.

    python ../shared/bench/maskbench.py --engine tests.bench.adapter:Adapter --tokenizer bytes ...

`Adapter` is strict: a schema with a keyword that would be checked after generation counts as a
compile error. `Lenient` compiles it, as `constrain extract` does by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from constrain import MaskCache, Matcher, SchemaOptions, Vocabulary, __version__, compile_schema
from constrain.bitmask import words
from constrain.tables import CompiledConstraint

_WARM_UP = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 300},
        "any": True,
        "set": {"items": {"type": "object"}, "uniqueItems": True},
    },
}
_WARM_TEXT = (
    '{"name": "éa\\n", "tags": ["a", "b", "a"], "any": [{"x": 1.5e3}, null], '
    '"set": [{"x": [1, "b"]}, {"x": [1.5e2]}]}'
)


@dataclass(frozen=True, eq=False)
class _Compiled:
    constraint: CompiledConstraint
    masks: MaskCache


class Adapter:
    """The five calls that MaskBench asks of an engine, and its whole-text shortcut."""

    name = "constrain"
    strict = True

    def __init__(self, tok: Any) -> None:
        """Take a maskbench.Tok; compile the jitted kernels before anything is timed."""
        self.tok = tok
        self.vocabulary = Vocabulary.of(tok.token_bytes, [tok.eos], size=tok.vocab_size)
        self.mask = np.zeros((1, words(tok.vocab_size)), dtype=np.int32)
        self.options = SchemaOptions(strict=self.strict)
        self._warm_up()

    def version(self) -> str:
        return __version__

    def compile(self, schema: Any) -> _Compiled:
        compiled = compile_schema(schema, self.vocabulary, self.options)
        return _Compiled(compiled, MaskCache(compiled))

    def start(self, compiled: _Compiled) -> Matcher:
        return Matcher(compiled.constraint, compiled.masks)

    def rewind(self, compiled: _Compiled, matcher: Matcher) -> Matcher:
        del matcher
        return self.start(compiled)

    def fill(self, matcher: Matcher) -> None:
        matcher.fill_next_token_bitmask(self.mask)

    def allowed(self, _: Matcher, token: int) -> bool:
        return bool((int(self.mask[0, token >> 5]) >> (token & 31)) & 1)

    def advance(self, matcher: Matcher, token: int) -> bool:
        return matcher.accept_token(token)

    def accepting(self, matcher: Matcher) -> bool:
        return matcher.is_accepting()

    def accepts(self, compiled: _Compiled, text: str) -> bool:
        matcher = self.start(compiled)
        data = text.encode("utf-8", "surrogatepass")
        return (not data or matcher.accept_bytes(data)) and matcher.is_accepting()

    def _warm_up(self) -> None:
        compiled = self.compile(_WARM_UP)
        matcher = self.start(compiled)
        for token in self.tok.encode(_WARM_TEXT):
            self.fill(matcher)
            self.advance(matcher, token)
        self.accepts(compiled, _WARM_TEXT)


class Lenient(Adapter):
    """Compiles what is checked after generation too."""

    name = "constrain-lenient"
    strict = False
