"""The jitted kernels compute what their Python source says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DIGEST = """
import hashlib, sys
from constrain import bitmask
from constrain.automata.pda import build_automaton
from constrain.limits import Limits
from constrain.masks import MaskCache
from constrain.matcher import Matcher
from constrain.syntax.expr import *
from constrain.tables import CompiledConstraint
from constrain.vocabulary import Vocabulary

value = alt(JsonString(repeat(ANY_CHAR, 1, 200)), literal("null"), Ref("list"))
listed = seq(literal("["), Ref("value"), repeat(seq(literal(","), Ref("value")), 0, 120),
             literal("]"))
grammar = Grammar(Ref("value"), {"value": value, "list": listed})
tokens = [bytes([b]) for b in range(256)] + [b'"]', b'","', b"]]", b'["', "é😀".encode()]
vocabulary = Vocabulary.of(tokens, [len(tokens)])
compiled = CompiledConstraint(build_automaton(grammar, Limits()), vocabulary, "")
matcher, digest = Matcher(compiled, MaskCache(compiled)), hashlib.sha256()
mask = bitmask.allocate(1, vocabulary.size)
for byte in '[["é😀",null,"x"],"yy"]'.encode():
    matcher.fill_next_token_bitmask(mask)
    digest.update(mask.tobytes() + matcher.forced_bytes())
    digest.update(str(matcher.distance_to_accept()).encode())
    assert matcher.accept_token(byte)
assert matcher.is_accepting()
digest.update(str(matcher._lazy.adopt(matcher._lazy.describe(matcher._node))).encode())
sys.stdout.write(digest.hexdigest())
"""


def digest(*, jit: bool) -> str:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0" if jit else "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DIGEST],
        env=environment,
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_jitted_kernels_equal_their_python_functions() -> None:
    compiled, interpreted = digest(jit=True), digest(jit=False)
    assert len(compiled) == 64
    assert compiled == interpreted


def test_every_jitted_source_names_the_folder_of_stored_code() -> None:
    from constrain import jit

    package = Path(jit.__file__).parent
    jitted = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "\n@jit\n" in path.read_text("utf-8")
    }
    assert jitted <= set(jit._SOURCES)
