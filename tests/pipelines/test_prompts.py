"""Tests of pipelines.prompts and pipelines.truncate."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.documents import Document, Origin
from pipelines.errors import ConfigError, DocumentError
from pipelines.prompts import ChatPrompt, Prompter, Task, Turn
from pipelines.template import load_template
from pipelines.truncate import PromptEncoder
from tests.pipelines.stand_in import ChatTokenizer

__all__: list[str] = []

TOKENIZER = ChatTokenizer()
SHOWN = Document(Origin("e", "e"), "five apples", keep={"lang": "en"})
TASK = Task("Do it.", "Text: ", (Turn(SHOWN, '{"n": 5}'),), {"fields": "- n"})


def document(text: str, **keep: str) -> Document:
    return Document(Origin("d", "d"), text, keep)


def filled(prompt: ChatPrompt, text: str) -> list[tuple[str, str]]:
    found = []
    for message in prompt.messages:
        content = message["content"]
        for name, value in {**prompt.untrusted, prompt.document: text}.items():
            content = content.replace(name, value)
        found.append((message["role"], content))
    return found


def encoder(prompter: Prompter, room: int = 400) -> PromptEncoder:
    return PromptEncoder(prompter, TOKENIZER, context_length=room + 100, max_new_tokens=100)


def template(folder: Path, source: str, task: Task = TASK) -> Prompter:
    (folder / "p.j2").write_text(source, "utf-8")
    path = str(folder / "p.j2")
    return Prompter(task, load_template(path, {"lang", "note", "fields", "examples"}))


def text_of(ids: tuple[int, ...]) -> str:
    return TOKENIZER.decode(ids)


def test_examples_are_earlier_turns() -> None:
    prompt = Prompter(TASK).prompt(document("two pears"))
    assert filled(prompt, "two pears") == [
        ("system", "Do it."),
        ("user", "Text: five apples"),
        ("assistant", '{"n": 5}'),
        ("user", "Text: two pears"),
    ]


def test_messages_hold_nothing_but_sentinels() -> None:
    prompt = Prompter(TASK).prompt(document("two pears"))
    shown = "".join(message["content"] for message in prompt.messages)
    for word in ("Do it", "apples", "pears", "{"):
        assert word not in shown
    assert shown.count(prompt.document) == 1


def test_no_document_can_spell_a_sentinel() -> None:
    assert (
        Prompter(TASK).prompt(document("x")).document
        != Prompter(TASK).prompt(document("x")).document
    )


def test_without_a_system_text_there_is_no_system_message() -> None:
    [(role, _)] = filled(Prompter(Task("")).prompt(document("x")), "x")
    assert role == "user"


def test_a_template_replaces_the_user_message_also_of_examples(tmp_path: Path) -> None:
    prompter = template(tmp_path, "{{ lang }}: {{ document }} -> {{ fields }}")
    prompt = prompter.prompt(document("zwei Birnen", lang="de"))
    assert filled(prompt, "zwei Birnen")[1:] == [
        ("user", "en: five apples -> - n"),
        ("assistant", '{"n": 5}'),
        ("user", "de: zwei Birnen -> - n"),
    ]


def test_a_template_that_shows_the_examples_itself_gets_no_turns(tmp_path: Path) -> None:
    task = Task("", "", TASK.turns, {"examples": [1]})
    prompter = template(tmp_path, "{{ examples | length }} {{ document }}", task)
    assert filled(prompter.prompt(document("x")), "x") == [("user", "1 x")]


def test_an_example_that_the_template_cannot_show_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'note' is undefined.*; give the rows of the examples"):
        template(tmp_path, "{{ note }} {{ document }}")


@pytest.mark.parametrize("source", ["{{ document | upper }}", "{{ document }}{{ document }}"])
def test_a_document_that_is_not_shown_once_is_refused(tmp_path: Path, source: str) -> None:
    with pytest.raises(ConfigError, match=r"as it is; write \{\{ document \}\} once"):
        encoder(template(tmp_path, source))


def test_all_prompts_begin_with_the_shared_prefix() -> None:
    made = encoder(Prompter(TASK))
    ids = made.encode(document("two pears")).ids
    assert ids[: len(made.shared_prefix)] == made.shared_prefix
    assert text_of(made.shared_prefix).endswith("user: Text: ")
    assert text_of(ids).endswith("user: Text: two pears\nassistant: ")


def test_prompts_that_differ_share_nothing(tmp_path: Path) -> None:
    made = encoder(template(tmp_path, "{{ lang }} {{ document }}"))
    assert made.shared_prefix == ()
    assert "de x" in text_of(made.encode(document("x", lang="de")).ids)


def test_the_empty_document_has_a_prompt() -> None:
    assert text_of(encoder(Prompter(TASK)).encode_empty().ids).endswith("Text: \nassistant: ")


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), st.integers(8, 40)
)
def test_a_long_document_is_cut_between_characters(text: str, room: int) -> None:
    prompter = Prompter(Task("S"))
    fixed = len(encoder(prompter).encode_empty().ids)
    made = encoder(prompter, fixed + room).encode(document(text))
    assert len(made.ids) <= fixed + room
    kept = text_of(made.ids).removeprefix("system: S\nuser: ").removesuffix("\nassistant: ")
    assert text.startswith(kept)
    if made.cut is None:
        assert kept == text
    else:
        assert (made.cut.kept, made.cut.of) == (len(kept), len(text))
        assert len(made.ids) > fixed + room - 4


def test_a_huge_document_is_not_encoded_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    encode = ChatTokenizer.encode
    monkeypatch.setattr(
        ChatTokenizer, "encode", lambda self, text: (seen.append(len(text)), encode(self, text))[1]
    )
    made = encoder(Prompter(Task("S"))).encode(document("ab" * 100_000))
    assert made.cut is not None
    assert made.cut.of == 200_000
    assert max(seen) < 30_000


def test_a_prompt_without_room_for_a_document_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"the prompt takes .* without the document; there are"):
        encoder(Prompter(Task("long " * 100)))


def test_a_prompt_of_one_document_without_room_is_its_error(tmp_path: Path) -> None:
    made = encoder(template(tmp_path, "{{ note }} {{ document }}", Task("")), room=120)
    assert made.encode(document("x", note="short")).cut is None
    with pytest.raises(DocumentError, match="without the document"):
        made.encode(document("x", note="long " * 100))
