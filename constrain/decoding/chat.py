"""Render messages through a model's chat template, and learn how that template ends a turn.

Takes a transformers tokenizer and messages, gives text; which parts of it are trusted is
`decoding.tokenizer`'s business. Knows nothing of token ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from constrain.errors import ModelError

__all__ = ["end_of_turn", "has_template", "render"]

Message = Mapping[str, str]

_ANSWER = "\ufdd0answer\ufdd1"  # noncharacters: no template writes them


def has_template(tokenizer: Any) -> bool:
    """Return whether the tokenizer brings a chat template."""
    return bool(getattr(tokenizer, "chat_template", None))


def render(tokenizer: Any, messages: Sequence[Message]) -> str:
    """Return the prompt text up to the first character of the answer.

    Some templates open an answer with more than their generation prompt says (an empty thinking
    block, a channel): whatever the template writes before a finished answer is used, so that the
    model starts with the answer itself. A template that refuses system messages gets the system
    text at the head of the first user message.

    Raises ModelError when the template fails, with or without a system message.
    """
    try:
        return _render(tokenizer, messages)
    except Exception as first:
        merged = _merge_system(messages)
        if merged == list(messages):
            raise _template_error(first) from first
        try:
            return _render(tokenizer, merged)
        except Exception as second:
            raise _template_error(second) from second


def end_of_turn(tokenizer: Any, candidates: Iterable[str]) -> str | None:
    """Return the control token the template writes right after an answer, if it writes one."""
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": _ANSWER}]
    try:
        text = _apply(tokenizer, messages, add_generation_prompt=False)
    except Exception:  # noqa: BLE001 - a template may raise anything; then it tells us nothing
        return None
    after = text.partition(_ANSWER)[2].lstrip()
    found = [token for token in candidates if token and after.startswith(token)]
    return max(found, key=len, default=None)


def _render(tokenizer: Any, messages: Sequence[Message]) -> str:
    opened = _apply(tokenizer, messages, add_generation_prompt=True)
    answered = [*messages, {"role": "assistant", "content": _ANSWER}]
    try:
        head, found, _ = _apply(tokenizer, answered, add_generation_prompt=False).partition(_ANSWER)
    except Exception:  # noqa: BLE001 - the generation prompt alone will do
        return opened
    return head if found and head.startswith(opened) else opened


def _apply(tokenizer: Any, messages: Sequence[Message], *, add_generation_prompt: bool) -> str:
    listed = [dict(m) for m in messages]
    text = tokenizer.apply_chat_template(
        listed, tokenize=False, add_generation_prompt=add_generation_prompt
    )
    return str(text)


def _merge_system(messages: Sequence[Message]) -> list[Message]:
    system = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
    others = [m for m in messages if m["role"] != "system"]
    if not system or not others:
        return list(messages)
    first = {**others[0], "content": f"{system}\n\n{others[0]['content']}"}
    return [first, *others[1:]]


def _template_error(cause: Exception) -> ModelError:
    return ModelError(
        f"the model's chat template cannot be rendered: {cause}; "
        "use another model, or one whose template takes user messages"
    )
