"""Tests of pipelines.template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.documents import Document, Origin
from pipelines.errors import ConfigError, DocumentError
from pipelines.template import PromptTemplate, load_template

__all__: list[str] = []

ROW = Document(Origin("i7", "f, line 1"), "TEXT", keep={"lang": "de", "odd name": 1})


def template(folder: Path, source: str) -> PromptTemplate:
    path = folder / "p.j2"
    path.write_text(source, "utf-8")
    return load_template(str(path), {"lang", "fields", "schema"})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ document }}", "TEXT"),
        ("{{ id }} {{ lang }} {{ keep['odd name'] }} {{ document }}", "i7 de 1 TEXT"),
        ("{{ fields }}|{{ schema | tojson }}|{{ document }}", '- a|{"x": 1}|TEXT'),
        ("{% if lang == 'de' %}Hallo{% endif %} {{ document }}", "Hallo TEXT"),
    ],
)
def test_variables_are_filled_in(tmp_path: Path, source: str, expected: str) -> None:
    variables: dict[str, Any] = {"fields": "- a", "schema": {"x": 1}}
    assert template(tmp_path, source).render("TEXT", ROW, variables) == expected


def test_texts_are_not_escaped(tmp_path: Path) -> None:
    assert template(tmp_path, "{{ document }}").render("<b> & {{ x }}", ROW, {}) == "<b> & {{ x }}"


@pytest.mark.parametrize(
    ("source", "shared"),
    [("{{ fields }} {{ document }}", True), ("{{ id }} {{ document }}", False),
     ("{{ document }} {{ lang }}", False)],
)  # fmt: skip
def test_it_is_known_whether_prompts_differ(tmp_path: Path, source: str, shared: bool) -> None:
    assert template(tmp_path, source).uses_row is not shared


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("hello", "p.j2: the prompt never shows the document; write {{ document }}"),
        ("{{ document }\n", "p.j2, line 1: unexpected '}'"),
        ("{{ document }}\n{% for %}", "p.j2, line 2: "),
        ("{{ document }}{{ lnag }}", "p.j2: the prompt uses 'lnag', which is not known; there are"),
    ],
)
def test_a_bad_template_is_a_config_error(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        template(tmp_path, source)


def test_a_missing_template_is_named() -> None:
    with pytest.raises(ConfigError, match="the prompt cannot be read"):
        load_template("gone.j2", ())


@pytest.mark.parametrize(
    ("source", "fact"),
    [
        ("{{ document }}{{ keep.unknown }}", "has no attribute 'unknown'"),
        ("{{ document }}{{ lang / 2 }}", "unsupported operand"),
        ("{{ document }}{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ document }}{{ keep.update({'a': 1}) }}", "unsafe"),
    ],
)
def test_what_fails_on_a_document_is_its_error(tmp_path: Path, source: str, fact: str) -> None:
    with pytest.raises(DocumentError, match=fact) as caught:
        template(tmp_path, source).render("TEXT", ROW, {})
    assert caught.value.stage == "prompt"
