"""From flags to a config of the pipelines: names, places, and the file `constrain.toml`.

Takes parsed parameters and TOML; gives configs. What a value may be is the config's business:
this module only knows which place of it a parameter fills.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from constrain.errors import ConstrainError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pipelines.config import ClassifyConfig, ExtractConfig

    Config = TypeVar("Config", ExtractConfig, ClassifyConfig)

__all__ = ["build", "default_map", "places", "read_settings"]

FIELD_OF = {"inputs": "paths", "schema": "schema_spec", "model": "name", "prompt": "file"} | {
    "output": "path"
}
"""Parameters whose field has another name than the parameter."""


class SettingsError(ConstrainError):
    """A `constrain.toml` that cannot be used."""


def places(kind: type[BaseModel]) -> dict[str, tuple[str, str]]:
    """Return for every field of the groups of `kind` the parameter that fills it.

    Parameter name -> (group, field): {"batch_size": ("decoding", "batch_size"), ...}.
    """
    parameter_of = {field: parameter for parameter, field in FIELD_OF.items()}
    found: dict[str, tuple[str, str]] = {}
    for group, info in kind.model_fields.items():
        fields: Mapping[str, Any] = getattr(info.annotation, "model_fields", {})
        found |= {parameter_of.get(field, field): (group, field) for field in fields}
    return found


def build(kind: type[Config], parameters: Mapping[str, Any]) -> Config:
    """Build a config from a command's parameters; None and empty ones keep the default.

    Raises `ConfigError` that names the flag.
    """
    from pipelines.config import build_config
    from pipelines.errors import ConfigError

    values: dict[str, dict[str, Any]] = {}
    for parameter, (group, field) in places(kind).items():
        value = parameters.get(parameter)
        if value not in (None, [], ()):
            values.setdefault(group, {})[field] = value
    try:
        return build_config(kind, values)
    except ConfigError as error:
        fact = error.fact[:1].lower() + error.fact[1:]
        raise ConfigError(fact, place=_flag(kind, error.place), remedy=error.remedy) from None


def _flag(kind: type[BaseModel], place: str) -> str:
    """Return the flag behind a place of the config: "decoding.seed" -> "--seed".

    A whole group has no flag of its own; what is wrong with it then says enough.
    """
    group, _, rest = place.partition(".")
    wanted = (group, rest.split(".")[0])
    for parameter, (its_group, its_field) in places(kind).items():
        if wanted in {(its_group, its_field), (its_group, parameter)}:
            return "INPUTS" if parameter == "inputs" else "--" + parameter.replace("_", "-")
    return ""


def read_settings(path: Path) -> dict[str, Any]:
    """Read a TOML file of flags; raise `SettingsError` when it cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        fact = f"{path}: cannot be read: {error.strerror}; correct --config, or drop it"
        raise SettingsError(fact) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is no TOML: {error}") from None


def default_map(
    settings: Mapping[str, Any], parameters: Mapping[str, set[str]], place: str
) -> dict[str, dict[str, Any]]:
    """Return defaults for each command, from flags at the top (for all) and in its own table.

    `parameters`: for each command the names it takes. Raises `SettingsError` at a key that no
    command, or not this command, has.
    """
    shared = {_name(key): value for key, value in settings.items() if key not in parameters}
    unknown = shared.keys() - set().union(*parameters.values())
    defaults: dict[str, dict[str, Any]] = {}
    for command, names in parameters.items():
        table = settings.get(command, {})
        if not isinstance(table, dict):
            raise SettingsError(
                f"{place}: {command!r} is a command; write its flags as [{command}]"
            )
        own = {_name(key): value for key, value in table.items()}
        unknown |= {f"{command}.{name}" for name in own.keys() - names}
        defaults[command] = {name: shared[name] for name in shared.keys() & names} | own
    if unknown:
        raise SettingsError(f"{place}: no flag is called {min(unknown)!r}; see constrain --help")
    return defaults


def _name(key: str) -> str:
    return key.replace("-", "_")
