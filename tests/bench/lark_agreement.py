"""Random grammars against Lark's Earley parser: `python -m tests.bench.lark_agreement [SEED]`.

Takes five random grammars that accept some and refuse some of the texts, and 2,000 random texts of
each; prints how many are judged differently. Texts on which Lark itself fails are left out.
"""

from __future__ import annotations

import random
import sys

from hypothesis import HealthCheck, Phase, given, seed, settings
from lark import Lark
from lark.exceptions import LarkError, UnexpectedInput

from constrain import MaskCache, Matcher, compile_grammar
from constrain.errors import ConstrainError
from tests.conformance.vocabularies import BYTES
from tests.syntax.test_lark import lark_grammars

_TEXTS = 2000


def _texts(number: int) -> list[str]:
    chosen = random.Random(number)
    return ["".join(chosen.choices("ab _", k=chosen.randint(0, 9))) for _ in range(_TEXTS)]


def _verdict(parser: Lark, text: str) -> bool | None:
    """Return whether Lark takes a text; None where it reports a fault of its own."""
    try:
        parser.parse(text)
    except UnexpectedInput:
        return False
    except RuntimeError:
        return None
    return True


def _accepts(masks: MaskCache, text: str) -> bool:
    matcher = Matcher(masks.compiled, masks)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


def _compared(grammar: str, texts: list[str]) -> tuple[int, int, int] | None:
    """Return (texts, accepted, judged differently); None for a grammar that one cannot take."""
    try:
        masks, parser = MaskCache(compile_grammar(grammar, BYTES, "lark")), Lark(grammar)
        ours = [_accepts(masks, text) for text in texts]
    except (ConstrainError, LarkError):
        return None
    theirs = [_verdict(parser, text) for text in texts]
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if b is not None]
    return len(pairs), sum(b for _, b in pairs), sum(a != b for a, b in pairs)


def main(start: int) -> None:
    """Print one line a grammar."""
    found: list[str] = []

    @seed(start)
    @settings(
        deadline=None,
        max_examples=500,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(lark_grammars())
    def choose(grammar: str) -> None:
        if len(found) < 5 and len(grammar) > 80:
            sample = _compared(grammar, _texts(start)[:200])
            is_new = all(grammar[:20] != known[:20] for known in found)
            if is_new and sample and 20 < sample[1] < 180:
                found.append(grammar)

    choose()
    for number, grammar in enumerate(found):
        print(grammar)
        texts, accepted, differing = _compared(grammar, _texts(number)) or (0, 0, 0)
        print(f"texts {texts}, accepted {accepted}, judged differently {differing}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
