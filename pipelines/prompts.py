"""What the model reads: messages around a document, and which parts of them are only text.

Takes a task (what to do, in words), solved examples and optionally a template; gives messages
whose contents are sentinels, with the texts they stand for, so that no text of a document, a
schema or a kept column can act as a control token. Knows no tokenizer.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.documents import Document
from pipelines.errors import ConfigError, DocumentError
from pipelines.template import PromptTemplate

__all__ = ["ChatPrompt", "Prompter", "Task", "Turn"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A solved example as the chat shows it: a document, and the answer as it is spelled."""

    document: Document
    answer: str


@dataclass(frozen=True)
class Task:
    """What to do: the system message, the turns that show how, and what templates may use.

    `lead` is what the user says before the document, where no template says it.
    """

    system: str
    lead: str = ""
    turns: tuple[Turn, ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """Messages for `TextTokenizer.encode_split`.

    `document` is the sentinel that stands for the document's text, exactly once. `untrusted` maps
    every other sentinel to its text.
    """

    messages: tuple[Mapping[str, str], ...]
    document: str
    untrusted: Mapping[str, str]


class Prompter:
    """Builds the prompt of each document."""

    def __init__(self, task: Task, template: PromptTemplate | None = None) -> None:
        """Prepare what all prompts share; raise `ConfigError` when an example can't be shown."""
        self._task = task
        self._template = template
        self._key = secrets.token_hex(8)  # no document can spell a sentinel it can't know
        self._hole = self._sentinel("document")
        self._opening = self._system_and_turns()

    @property
    def same_for_all(self) -> bool:
        """Whether all documents share one prompt, but for their text."""
        return self._template is None or not self._template.uses_row

    def prompt(self, document: Document) -> ChatPrompt:
        """Return the prompt of `document`; raise `DocumentError` where a template fails on it."""
        return self._assemble([*self._opening, ("user", self._around(document))])

    def _around(self, document: Document) -> tuple[str, str, str]:
        """Return the user message in three parts: before the document, its sentinel, after."""
        text = self._user_text(self._hole, document)
        times = text.count(self._hole)
        if times != 1:
            raise DocumentError(
                f"the prompt shows the document {times} times as it is",
                stage="prompt",
                remedy="write {{ document }} once, without filters",
            )
        return text.partition(self._hole)

    def _system_and_turns(self) -> list[tuple[str, Sequence[str]]]:
        """Return what comes before the document's own message; it is the same for all."""
        pieces: list[tuple[str, Sequence[str]]] = []
        if self._task.system:
            pieces.append(("system", [self._task.system]))
        for turn in self._shown_turns():
            try:
                text = self._user_text(turn.document.text, turn.document)
            except DocumentError as error:
                remedy = "give the rows of the examples the fields that the prompt uses"
                raise ConfigError(error.fact, place=error.place, remedy=remedy) from None
            pieces += [("user", [text]), ("assistant", [turn.answer])]
        return pieces

    def _shown_turns(self) -> Sequence[Turn]:
        if self._template is not None and self._template.uses_examples:
            return ()
        return self._task.turns

    def _user_text(self, text: str, document: Document) -> str:
        if self._template is None:
            return self._task.lead + text
        return self._template.render(text, document, self._task.variables)

    def _assemble(self, pieces: Sequence[tuple[str, Sequence[str]]]) -> ChatPrompt:
        untrusted: dict[str, str] = {}
        messages = []
        for role, texts in pieces:
            content = ""
            for text in texts:
                if text and text != self._hole:
                    name = self._sentinel(str(len(untrusted)))
                    untrusted[name] = text
                    content += name
                else:
                    content += text
            messages.append({"role": role, "content": content})
        return ChatPrompt(tuple(messages), self._hole, untrusted)

    def _sentinel(self, name: str) -> str:
        return f"[constrain-{self._key}-{name}]"
