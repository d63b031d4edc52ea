"""From documents to numbered prompts, and back from a number to its document.

What `extract` and `classify` share: documents that can't be worked on are settled at once, the
others wait here, without their text, until their answer comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pipelines.collector import Collector, Outcome
from pipelines.documents import Document, Unread
from pipelines.errors import DocumentError
from pipelines.examples import Example
from pipelines.records import error_record
from pipelines.run import Run
from pipelines.truncate import Cut, Encoded

__all__ = ["Asking", "Pending", "Work"]


class Asking(Protocol):
    """What writes the prompt of a document: a PromptEncoder, or what has one."""

    def encode(self, document: Document, /) -> Encoded:
        """Return the prompt; raise `DocumentError` when there can be none."""


A = TypeVar("A", bound=Asking)


@dataclass(frozen=True, slots=True)
class Pending:
    """A document that is being worked on: all of it that the record needs, without its text."""

    document: Document
    prompt_tokens: int
    cut: Cut | None = None
    is_example: bool = False

    def meta(self) -> dict[str, Any]:
        """Return the part of the record's meta that is about the document."""
        meta = dict(self.document.meta)
        if self.cut is not None:
            cut = {"kept_characters": self.cut.kept, "characters": self.cut.of}
            meta["truncated_input"] = cut
        if self.is_example:
            meta["example"] = True
        return meta


class Work:
    """The documents of a run on their way through a model."""

    def __init__(self, run: Run, examples: Iterable[Example]) -> None:
        self._run = run
        self._shown = frozenset(e.document.id for e in examples if e.from_inputs)
        self._pending: dict[int, Pending] = {}

    def prompts(
        self,
        collector: Collector,
        documents: Iterable[tuple[Document | Unread, Callable[[], A]]],
    ) -> Iterator[tuple[int, Encoded, A]]:
        """Yield number and prompt of each document that can be worked on; settle the others.

        Each comes with a function that gives what asks it, or raises its `DocumentError`.
        """
        for number, (document, chosen) in enumerate(documents):
            if isinstance(document, Unread):
                collector.put(number, Outcome(error_record(document, document.error)))
                continue
            try:
                asking = chosen()
                encoded = asking.encode(document)
            except DocumentError as error:
                collector.put(number, Outcome(error_record(document, error, document.meta)))
                continue
            if encoded.cut is not None:
                self._run.warn("documents that are longer than the model's context are cut")
            self._pending[number] = Pending(
                document.without_text(), len(encoded.ids), encoded.cut, document.id in self._shown
            )
            yield number, encoded, asking

    def take(self, number: int) -> Pending:
        """Return the document whose answer has come; it is no longer waited for."""
        return self._pending.pop(number)
