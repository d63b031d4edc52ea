"""Golden rows -> solved examples for the prompt: a text and the right answer to it.

Takes `FILE.jsonl[:N]` (rows with `id`, `value` or `record`, optionally `text`), a check for
values, and a way to find a text by id among the inputs. Knows no prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pipelines.documents import Document, Origin, Unread, document_from_text
from pipelines.errors import ConfigError
from pipelines.jsontext import JsonError, loads_strict

__all__ = ["Example", "load_examples"]

_OWN_KEYS = frozenset({"id", "value", "record", "alt", "text"})


@dataclass(frozen=True, slots=True)
class Example:
    """A solved document. `from_inputs`: it is one of the inputs (not a text of the golden row)."""

    document: Document
    value: Any
    from_inputs: bool


@dataclass(frozen=True, slots=True)
class _Row:
    place: str
    id: str | None
    value: Any
    text: str | None
    others: Mapping[str, Any]


def load_examples(
    spec: str,
    check: Callable[[Any], str | None],
    documents: Callable[[], Iterable[Document | Unread]],
) -> tuple[Example, ...]:
    """Return the examples `spec` asks for; raise `ConfigError` naming the row that is no good.

    `check` returns what is wrong with a value, or None. `documents` starts a pass over the inputs;
    it is called only when a row has no text of its own, and left as soon as all are found.
    """
    path, count = _split_spec(spec)
    rows = _read_rows(path, count)
    for row in rows:
        fault = check(row.value)
        if fault:
            remedy = "correct the golden file or the constraint"
            raise ConfigError(
                f"this example breaks the constraint: {fault}", place=row.place, remedy=remedy
            )
    wanted = [row for row in rows if row.text is None]
    found = _texts_by_id(wanted, documents()) if wanted else {}
    return tuple(_example(row, found) for row in rows)


def _split_spec(spec: str) -> tuple[Path, int | None]:
    head, colon, tail = spec.rpartition(":")
    if colon and tail.isdigit() and not Path(spec).exists():
        if int(tail) == 0:
            raise ConfigError("asks for 0 examples", place=spec, remedy="ask for 1 or more")
        return Path(head), int(tail)
    return Path(spec), None


def _read_rows(path: Path, count: int | None) -> list[_Row]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        fact = f"the golden file cannot be read ({error.strerror})"
        raise ConfigError(fact, place=str(path)) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"byte {error.start} is not UTF-8", place=str(path)) from None
    numbered = [(n, line) for n, line in enumerate(lines, start=1) if line.strip()]
    if count is not None and count > len(numbered):
        fact = f"{count} examples are asked for, the file has {len(numbered)}"
        raise ConfigError(fact, place=str(path), remedy="ask for fewer")
    return [_row(f"{path}, line {n}", line) for n, line in numbered[:count]]


def _row(place: str, line: str) -> _Row:
    try:
        row = loads_strict(line)
    except JsonError as error:
        raise ConfigError(f"not JSON: {error.fact}", place=place) from None
    if not isinstance(row, dict) or not row.keys() & {"value", "record"}:
        raise ConfigError("a golden row is an object with 'value' (or 'record')", place=place)
    text = row.get("text")
    if text is not None and not isinstance(text, str):
        raise ConfigError("'text' is no text", place=place)
    identifier = row.get("id")
    value = row["value"] if "value" in row else row["record"]
    others = {key: item for key, item in row.items() if key not in _OWN_KEYS}
    return _Row(place, None if identifier is None else str(identifier), value, text, others)


def _texts_by_id(
    rows: Iterable[_Row], documents: Iterable[Document | Unread]
) -> Mapping[str, Document]:
    missing = {row.id for row in rows if row.id is not None}
    found: dict[str, Document] = {}
    for document in documents:
        if isinstance(document, Unread):
            continue
        for name in _names(document.id):
            if name in missing:
                found[name] = document
                missing.discard(name)
        if not missing:
            break
    return found


def _names(identifier: str) -> Iterator[str]:
    """Yield what a golden row may call a document: its id, its file name, that without suffix."""
    path = PurePosixPath(identifier)
    yield from dict.fromkeys((identifier, path.name, path.stem))


def _example(row: _Row, found: Mapping[str, Document]) -> Example:
    if row.text is not None:
        origin = Origin(row.id or row.place, row.place)
        document = document_from_text(origin, row.text, keep=row.others)
        if isinstance(document, Unread):
            raise ConfigError(document.error.fact, place=row.place)
        return Example(document, row.value, from_inputs=False)
    if row.id is None or row.id not in found:
        fact = f"the row has no text, and no input has the id {row.id!r}"
        raise ConfigError(fact, place=row.place, remedy="add 'text' to the row")
    return Example(found[row.id], row.value, from_inputs=True)
