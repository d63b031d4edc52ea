"""The words that tell a model its task, one function a task. All prompts' wording is here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.outline import outline
from pipelines.schematree import Schema, resolve

__all__ = [
    "MESSAGE_LEAD",
    "choice_task",
    "grammar_task",
    "label_task",
    "pattern_task",
    "schema_task",
    "tags_task",
    "tools_task",
]

_MAX_LISTED = 200
_MAX_SHOWN = 4000
MESSAGE_LEAD = "Message: "
"""What stands before each document that is classified."""


def schema_task(schema: Schema) -> str:
    """Return the instruction to fill in the fields of a schema."""
    top = resolve(schema, schema)
    named = "" if isinstance(top, bool) else str(top.get("title") or "")
    about = "" if isinstance(top, bool) else str(top.get("description") or "")
    what = f"{named}: {about}" if named and about else named or about
    lines = [
        "Extract information from the document the user sends, and answer with one JSON value.",
        f"It describes: {what}" if what else "",
        "Fields:",
        outline(schema),
        "Copy values exactly as they stand in the document.",
        "Use null for what the document does not say, where null is allowed.",
    ]
    return "\n".join(line for line in lines if line)


def pattern_task(pattern: str) -> str:
    """Return the instruction to answer with a text that matches a pattern."""
    return (
        "Read the document the user sends, and answer with one text from it that matches the "
        f"regular expression {pattern}"
    )


def grammar_task(grammar: str) -> str:
    """Return the instruction to answer with a text that a grammar allows."""
    task = "Read the document the user sends, and answer with one text that this grammar allows"
    return f"{task}:\n{grammar.strip()}" if len(grammar) <= _MAX_SHOWN else f"{task} (it is long)."


def tags_task(parts: Sequence[Mapping[str, Any]]) -> str:
    """Return the instruction to answer in parts between tags."""
    lines = ["Read the document the user sends, and answer in this form:"]
    for part in parts:
        lines += [_about_part(p) for p in part.get("any_of", [part])]
    return "\n".join(lines)


def tools_task(tools: Sequence[Mapping[str, Any]], parallel: int | None) -> str:
    """Return the instruction to call functions of a name, a description and parameters."""
    what = "one of these functions" if parallel is None else f"1 to {parallel} of these functions"
    lines = [f"Read the request the user sends, and call {what}, with arguments from it:"]
    for tool in tools:
        about = tool["description"]
        lines.append(f"{tool['name']}: {about}" if about else tool["name"])
        lines += [f"  {line}" for line in outline(tool["parameters"]).splitlines()]
    form = '{"name": the function, "arguments": {...}}'
    lines.append(f"Answer with {form if parallel is None else f'a JSON list of {form}'}.")
    return "\n".join(lines)


def _about_part(part: Mapping[str, Any]) -> str:
    name = part.get("name", "text")
    if "schema" in part:
        about = f"JSON ({name}) with these fields:\n{outline(part['schema'])}"
    elif "choices" in part:
        about = " or ".join(part["choices"])
    else:
        about = f"your {name}"
    return f"{part.get('begin', '')}{about}{part.get('end', '')}"


def choice_task(choices: Sequence[str]) -> str:
    """Return the instruction to answer with one of some texts, which are listed if they are few."""
    if len(choices) > _MAX_LISTED:
        return f"Read the document the user sends, and answer with one of {len(choices)} labels."
    listed = "\n".join(f"- {choice}" for choice in choices)
    return f"Read the document the user sends, and answer with one of these:\n{listed}"


def label_task() -> str:
    """Return the instruction to classify.

    The labels are not listed: all of them are scored, and a small model takes from a list above
    all which label stands last (on 72 banking questions, SmolLM2-135M: 0.86 right without the
    list, 0.49 with it). A template may show `choices` to a larger model.
    """
    return "You label messages. Answer with a short label that says what the message is about."
