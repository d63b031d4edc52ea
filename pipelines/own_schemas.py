"""Each document under the schema of its own row: compiled ahead in a thread, once a content.

Takes documents as they are read, with what their rows hold; gives each with a function for what it
is asked under, which raises the document's own error where its schema is missing or no good. Knows
no file, no prompt and no decode loop.

One thread compiles, because a compile is Python and two would only share one interpreter. It gives
tables alone; whatever is made of them (masks, prompts, validators) is made by the caller's thread.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from constrain.errors import ConstrainError
from constrain.limits import Limits
from constrain.schema import SchemaOptions
from pipelines.constraint import SchemaConstraint
from pipelines.documents import Document, Unread
from pipelines.errors import DocumentError
from pipelines.jsontext import JsonError, loads_strict
from pipelines.schemas import LoadedSchema

if TYPE_CHECKING:
    from constrain.tables import CompiledConstraint
    from constrain.vocabulary import Vocabulary
    from pipelines.ready import Ready

__all__ = ["Choice", "OwnSchemas"]

_LIMITS = Limits(seconds=2 * Limits().seconds)
"""Twice the usual time, since a compile takes turns with the decode loop."""
_MAX_KEPT = 256
"""Schemas that are kept for later rows. Those of documents under way are kept anyway."""

Make = Callable[[SchemaConstraint, "CompiledConstraint"], "Ready"]
Choice = Callable[[], "Ready"]
"""Gives what a document is asked under, or raises its `DocumentError`."""


class OwnSchemas:
    """The schemas that rows bring in the field `field`.

    `make` turns a compiled schema into what asks documents under it. `fallback` is for rows without
    a schema; they fail when there is none.
    """

    def __init__(
        self,
        field: str,
        options: SchemaOptions,
        vocabulary: Vocabulary,
        make: Make,
        fallback: Ready | None = None,
    ) -> None:
        self._field = field
        self._options = options
        self._vocabulary = vocabulary
        self._make = make
        self._fallback = fallback
        self._kept: OrderedDict[bytes, _Schema] = OrderedDict()
        self.seen = False

    def ahead(
        self, documents: Iterable[Document | Unread], look_ahead: int
    ) -> Generator[tuple[Document | Unread, Choice], None, None]:
        """Yield every document, while the schemas of the next `look_ahead` are being compiled.

        `seen` tells afterwards whether any had a schema. Close it, to let go of the thread.
        """
        pool = ThreadPoolExecutor(1, "constrain-compile")
        waiting: deque[tuple[Document | Unread, Choice]] = deque()
        try:
            for document in documents:
                waiting.append((document, self._choice(document, pool)))
                if len(waiting) > look_ahead:
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _choice(self, document: Document | Unread, pool: ThreadPoolExecutor) -> Choice:
        if isinstance(document, Unread):
            return partial(_fail, document.error)
        try:
            schema = self._schema_of(document)
            key = _content(schema)
        except DocumentError as error:
            return partial(_fail, error)
        except RecursionError:
            return partial(_fail, self._error(document, "nested too deeply", "unfold it"))
        if schema is None:
            return partial(self._for_want_of_one, document)
        self.seen = True
        return partial(self._ready, self._compiling(schema, key, pool), self._place(document))

    def _schema_of(self, document: Document) -> Any:
        """Return the row's schema as JSON, None where it has none; raise `DocumentError`."""
        schema = document.schema
        remedy = "write a schema as a JSON object, or as the text of one"
        if isinstance(schema, str):
            try:
                schema = loads_strict(schema)
            except JsonError as error:
                raise self._error(document, f"not JSON: {error}", remedy) from None
        if schema is None or isinstance(schema, dict | bool):
            return schema
        raise self._error(document, "this is no schema", remedy)

    def _for_want_of_one(self, document: Document) -> Ready:
        if self._fallback is None:
            remedy = "give it one, or give --schema for documents without"
            raise self._error(document, "the document has no schema here", remedy)
        return self._fallback

    def _error(self, document: Document, fact: str, remedy: str) -> DocumentError:
        return DocumentError(fact, stage="schema", place=self._place(document), remedy=remedy)

    def _place(self, document: Document) -> str:
        return f"{document.origin.place}, field {self._field!r}"

    def _compiling(self, schema: Any, key: bytes, pool: ThreadPoolExecutor) -> _Schema:
        """Return the schema from those that are kept, or have it compiled."""
        known = self._kept.pop(key, None)
        if known is None:
            constraint = SchemaConstraint(LoadedSchema(schema, self._field), self._options)
            compiled = pool.submit(constraint.compile, self._vocabulary, _LIMITS)
            known = _Schema(constraint, compiled, self._make)
        self._kept[key] = known
        if len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return known

    def _ready(self, schema: _Schema, place: str) -> Ready:
        if isinstance(schema.outcome, str):
            raise DocumentError(schema.outcome, stage="schema", place=place)
        return schema.outcome


class _Schema:
    """A schema that is being compiled, then ready or refused."""

    def __init__(
        self, constraint: SchemaConstraint, compiled: Future[CompiledConstraint], make: Make
    ) -> None:
        self._constraint = constraint
        self._compiled = compiled
        self._make = make

    @cached_property
    def outcome(self) -> Ready | str:
        """What asks documents under it, or what is wrong with it; waits until it is compiled."""
        try:
            return self._make(self._constraint, self._compiled.result())
        except ConstrainError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001  (one odd schema must not end a run over thousands)
            return f"the schema cannot be used ({type(error).__name__}: {error})"


def _content(schema: Any) -> bytes:
    """Return the hash of a schema; the order of its keys counts, which records follow."""
    return hashlib.sha256(json.dumps(schema).encode()).digest()


def _fail(error: DocumentError) -> Ready:
    raise error
