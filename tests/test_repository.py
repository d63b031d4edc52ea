"""Conventions of the project, as facts that can fail."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import constrain
from cli.main import app
from tests.readme_tables import README, TABLES, written

__all__: list[str] = []

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cli", "constrain", "pipelines")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|raise NotImplementedError)\b")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def public_of(tree: ast.Module) -> list[str] | None:
    """Return what `__all__` lists, or None where a module has none."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets) and value:
            return [str(name) for name in ast.literal_eval(value)]
    return None


def defined_in(tree: ast.Module) -> set[str]:
    """Return every name that the body of a module binds, also by imports and conditions."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (*FUNCTION, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


COMMANDS = dict(commands(get_command(app)))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_has_a_docstring(path: Path) -> None:
    assert ast.get_docstring(tree_of(path))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_all_lists_names_that_exist(path: Path) -> None:
    tree = tree_of(path)
    public = public_of(tree)
    assert public is not None
    assert len(public) == len(set(public))
    assert set(public) - defined_in(tree) == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_all_lists_every_public_function(path: Path) -> None:
    tree = tree_of(path)
    functions = {node.name for node in tree.body if isinstance(node, FUNCTION)}
    public = {name for name in functions if not name.startswith("_")}
    assert public - set(public_of(tree) or ()) == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_public_function_and_class_has_a_docstring(path: Path) -> None:
    tree = tree_of(path)
    listed = set(public_of(tree) or ())
    nodes = [node for node in tree.body if isinstance(node, (*FUNCTION, ast.ClassDef))]
    assert not [n.name for n in nodes if n.name in listed and not ast.get_docstring(n)]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_function_is_longer_than_sixty_lines(path: Path) -> None:
    nodes = [node for node in ast.walk(tree_of(path)) if isinstance(node, FUNCTION)]
    body = {node.name: (node.end_lineno or 0) - node.body[0].lineno + 1 for node in nodes}
    assert not {name: lines for name, lines in body.items() if lines > 60}


def test_no_file_is_longer_than_five_hundred_lines() -> None:
    lengths = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert not {name: lines for name, lines in lengths.items() if lines > 500}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_left_unfinished(path: Path) -> None:
    assert not UNFINISHED.findall(path.read_text("utf-8"))


def test_command_bodies_have_at_most_forty_lines() -> None:
    for name, command in COMMANDS.items():
        function = inspect.unwrap(command.callback)
        nodes = tree_of(Path(function.__code__.co_filename)).body
        node = next(n for n in nodes if isinstance(n, FUNCTION) and n.name == function.__name__)
        assert (node.end_lineno or 0) - node.body[0].lineno < 40, name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_stands_in_the_readme(name: str) -> None:
    assert COMMANDS[name].help
    assert f"constrain {name}" in README.read_text("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_has_help_and_a_variable(name: str) -> None:
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "option":
            assert parameter.help, parameter.name
            assert str(parameter.envvar).startswith("CONSTRAIN_"), parameter.name


@pytest.mark.parametrize("name", TABLES)
def test_the_readme_has_the_made_part(name: str) -> None:
    text = README.read_text("utf-8")
    assert f"<!-- {name} -->\n" in text
    assert f"\n<!-- /{name} -->" in text


def test_the_made_parts_of_the_readme_equal_the_code() -> None:
    text = README.read_text("utf-8")
    assert text == written(text), "run: python -m tests.readme_tables --write"


def test_paths_that_the_readme_names_exist() -> None:
    text = README.read_text("utf-8")
    named = set(re.findall(r"\b(?:sample_data|schemas)/[\w./-]+\w", text))
    assert named
    assert not {path for path in named if not (ROOT / path).exists()}


def test_the_version_stands_in_one_form_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == constrain.__version__


def test_the_licence_is_the_one_the_project_names() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text("utf-8")[:200]


def test_public_names_of_the_engine_can_be_imported() -> None:
    for name in constrain.__all__:
        assert getattr(constrain, name) is not None
