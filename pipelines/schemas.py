"""Schemas as people give them -> a JSON Schema, and the Pydantic model behind it if there is one.

Takes a spec: a JSON or YAML file, inline JSON, `module:Model` or `file.py:Model`. Gives a plain
schema with its keys in the order written. What the keywords mean is the engine's business.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

from pipelines.errors import ConfigError
from pipelines.jsontext import JsonError, loads_strict

if TYPE_CHECKING:
    from types import ModuleType

    from pydantic import TypeAdapter

__all__ = ["LoadedSchema", "load_data", "load_schema"]


@dataclass(frozen=True)
class LoadedSchema:
    """A schema, the name to call it by, and the Pydantic adapter that also validates records."""

    schema: Mapping[str, Any] | bool
    name: str
    adapter: TypeAdapter[Any] | None = None


def load_schema(spec: str) -> LoadedSchema:
    """Load the schema that `spec` names; raise `ConfigError` (place, fact, remedy) if it can't."""
    text = spec.strip()
    if text.startswith("{") or text in {"true", "false"}:
        return _checked(_parse_json(text, "inline schema"), "inline schema")
    path = Path(spec)
    if path.is_file():
        return _from_file(path)
    head, colon, attribute = spec.rpartition(":")
    if colon and head and attribute.replace(".", "").isidentifier():
        return _from_python(head, attribute)
    raise ConfigError(
        "no such schema file",
        place=spec,
        remedy="give a .json or .yaml file, inline JSON, module:Model or file.py:Model",
    )


def load_data(path: str) -> Any:
    """Return what a JSON or YAML file (by its suffix) holds; raise `ConfigError` if it can't."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", place=path) from None
    except UnicodeDecodeError as error:
        fact = f"byte {error.start} is not UTF-8"
        raise ConfigError(fact, place=path, remedy="save it as UTF-8") from None
    if Path(path).suffix.lower() in {".yaml", ".yml"}:
        return _parse_yaml(text, path)
    return _parse_json(text, path)


def _from_file(path: Path) -> LoadedSchema:
    if path.suffix == ".py":
        remedy = f"name the model, as in {path}:MyModel"
        raise ConfigError("a Python file is not a schema", place=str(path), remedy=remedy)
    return _checked(load_data(str(path)), str(path))


def _parse_json(text: str, place: str) -> Any:
    try:
        return loads_strict(text)
    except JsonError as error:
        spot = f", line {error.line}, column {error.column}" if error.line else ""
        raise ConfigError(f"not JSON: {error.fact}", place=place + spot) from None


def _parse_yaml(text: str, place: str) -> Any:
    from pipelines.yamltext import YamlError, loads_yaml  # noqa: PLC0415  (PyYAML loads slowly)

    try:
        return loads_yaml(text)
    except YamlError as error:
        raise ConfigError(f"not usable YAML: {error}", place=place) from None


def _checked(schema: Any, place: str) -> LoadedSchema:
    if isinstance(schema, bool):
        return LoadedSchema(schema, place)
    if not isinstance(schema, dict):
        raise ConfigError("a schema is an object, true or false", place=place)
    return LoadedSchema(schema, place)


def _from_python(module: str, attribute: str) -> LoadedSchema:
    place = f"{module}:{attribute}"
    found: Any = _import(module, place)
    for name in attribute.split("."):
        if not hasattr(found, name):
            names = ", ".join(_type_names(found)) or "no class"
            fact = f"there is no {name!r} in {module}; it has {names}"
            raise ConfigError(fact, place=place)
        found = getattr(found, name)
    return _from_type(found, place)


def _from_type(found: Any, place: str) -> LoadedSchema:
    from pydantic import PydanticUserError, TypeAdapter  # noqa: PLC0415
    from pydantic.errors import PydanticSchemaGenerationError  # noqa: PLC0415

    if isinstance(found, Mapping):
        return _checked(dict(found), place)
    if isinstance(found, FunctionType | BuiltinFunctionType):
        raise ConfigError("is a function, no model", place=place, remedy="name a Pydantic model")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(found)
        schema = adapter.json_schema(mode="validation")
    except (PydanticUserError, PydanticSchemaGenerationError) as error:
        fact = f"no JSON Schema can be made of it: {str(error).splitlines()[0]}"
        raise ConfigError(fact, place=place, remedy="name a Pydantic model") from None
    return LoadedSchema(schema, place, adapter)


def _import(module: str, place: str) -> ModuleType:
    try:
        if module.endswith(".py"):
            return _import_file(Path(module), place)
        with _on_path(Path.cwd()):
            return importlib.import_module(module)
    except ConfigError:
        raise
    except Exception as error:
        fact = f"{module} cannot be imported ({type(error).__name__}: {error})"
        raise ConfigError(fact, place=place) from error


def _import_file(path: Path, place: str) -> ModuleType:
    if not path.is_file():
        raise ConfigError("no such file", place=place, remedy="check the path before the colon")
    # A name of our own, so that a file called json.py hides no module.
    spec = importlib.util.spec_from_file_location(f"constrain_schema_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigError("not a Python file", place=place)
    module = importlib.util.module_from_spec(spec)
    with _on_path(path.resolve().parent):
        sys.modules[spec.name] = module  # so that annotations in the file can be resolved
        spec.loader.exec_module(module)
    return module


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    """Let imports see `folder` first, as for a script that lies there."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def _type_names(module: Any) -> list[str]:
    own = getattr(module, "__name__", None)
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == own
    ][:12]
