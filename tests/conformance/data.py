"""Where the shared data lies, how one schema is tried, and expectation files that only improve."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from constrain import MaskCache, Matcher, SchemaOptions, compile_schema
from constrain.errors import ConstrainError, UnsatisfiableSchema
from tests.conformance.vocabularies import BYTES

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
HERE = Path(__file__).parent
_MAX_ORDERS = 1000


def shared(name: str) -> Path:
    """Return a file of the shared data; skips the whole module where it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"no {path}", allow_module_level=True)
    return path


class Trial:
    """One schema, compiled strictly over bytes: what would be checked after is refused."""

    def __init__(self, schema: Any, others: Mapping[str, Any] | None = None) -> None:
        """Compile; `refusal` says why not. Anything but a ConstrainError is a fault and escapes."""
        self.refusal = ""
        self.is_unsatisfiable = False
        try:
            compiled = compile_schema(schema, BYTES, SchemaOptions(strict=True), others=others)
        except ConstrainError as error:
            self.refusal = f"{type(error).__name__}: {error}"
            self.is_unsatisfiable = isinstance(error, UnsatisfiableSchema)
            return
        self.masks = MaskCache(compiled)

    def accepts(self, text: str) -> bool:
        """Return whether `text` is possible in full."""
        matcher = Matcher(self.masks.compiled, self.masks)
        data = text.encode("utf-8", "surrogatepass")
        return matcher.accept_bytes(data) and matcher.is_accepting()

    def accepts_some_order(self, instance: Any) -> bool:
        """Return whether the instance is possible with its keys in some order."""
        start = Matcher(self.masks.compiled, self.masks)
        ends = islice(_written(start, instance), _MAX_ORDERS)
        return any(matcher.is_accepting() for matcher in ends)


def _written(matcher: Matcher, value: Any) -> Iterator[Matcher]:
    """Yield matchers that have taken the value, its keys in each order that is possible."""
    if isinstance(value, dict) and value:
        yield from _members(matcher, value, "{")
    elif isinstance(value, list) and value:
        yield from _items(matcher, value, "[")
    else:
        yield from _taken(matcher, json.dumps(value, ensure_ascii=False))


def _taken(matcher: Matcher, text: str) -> Iterator[Matcher]:
    twin = matcher.fork()
    if twin.accept_bytes(text.encode("utf-8", "surrogatepass")):
        yield twin


def _members(matcher: Matcher, left: dict[str, Any], before: str) -> Iterator[Matcher]:
    if not left:
        yield from _taken(matcher, "}")
    for key, value in left.items():
        rest = {other: left[other] for other in left if other != key}
        opened = f"{before}{json.dumps(key, ensure_ascii=False)}: "
        for named in _taken(matcher, opened):
            for written in _written(named, value):
                yield from _members(written, rest, ", ")


def _items(matcher: Matcher, left: list[Any], before: str) -> Iterator[Matcher]:
    if not left:
        yield from _taken(matcher, "]")
        return
    for opened in _taken(matcher, before):
        for written in _written(opened, left[0]):
            yield from _items(written, left[1:], ", ")


def check_ratchet(
    name: str, found: Mapping[str, Any], is_better: Callable[[Any, Any], bool]
) -> None:
    """Compare outcomes with the kept file: worse fails, and better asks for an update.

    `is_better(kept, got)` says which is which. To renew the file, delete it, run the test, and
    read the difference before committing it.
    """
    path = HERE / name
    if not path.exists():
        path.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        pytest.skip(f"{name} is written afresh; read it, then commit it")
    kept = json.loads(path.read_text(encoding="utf-8"))
    names = kept.keys() | found.keys()
    changed = {n: (kept.get(n), found.get(n)) for n in names if kept.get(n) != found.get(n)}
    worse = {n: pair for n, pair in changed.items() if not is_better(*pair)}
    assert not worse, f"worse than {name}: {worse}"
    assert not changed, f"better than {name}; delete it and run again to renew it: {changed}"
