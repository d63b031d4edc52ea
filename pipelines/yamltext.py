"""YAML text -> JSON values. Only true and false are booleans, and dates stay text.

`enum: [yes, no]` means two texts here, as its writer meant (YAML 1.2's core schema). Doubled keys,
keys that aren't text, and endless aliases are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from typing import Any

import yaml

__all__ = ["YamlError", "loads_yaml"]

_MAX_NODES = 1_000_000


class YamlError(ValueError):
    """Text that is not YAML, or not JSON in YAML's clothes."""


class _Loader(yaml.SafeLoader):
    """SafeLoader with the resolvers of YAML 1.2's core schema, and with unique keys."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT002  (PyYAML's signature)
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise YamlError(f"{_spot(key_node)}: the key {key!r} is not text; quote it")
            if key in seen:
                raise YamlError(f"{_spot(key_node)}: the key {key!r} is given twice")
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


for _tag, _pattern, _starts in [
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
]:
    _starting = [start.replace("\0", "") for start in _starts]
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _starting
    )


def loads_yaml(text: str) -> Any:
    """Parse one YAML document into JSON values; raise `YamlError` with line and column."""
    try:
        value = yaml.load(text, Loader=_Loader)  # noqa: S506  (_Loader is a SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        spot = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise YamlError(f"{spot}{error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise YamlError(str(error).splitlines()[0]) from None
    _check(value)
    return value


def _check(value: Any) -> None:
    """Refuse what is not JSON, and aliases that unfold without end."""
    pending = [value]
    for _ in range(_MAX_NODES):
        if not pending:
            return
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, float) and not math.isfinite(item):
            raise YamlError(f"{item} is not a JSON number")
        elif item is not None and not isinstance(item, str | int | float):
            raise YamlError(f"{type(item).__name__} values are not JSON")
    raise YamlError(f"it unfolds to more than {_MAX_NODES:,} values; are its aliases in a circle?")


def _spot(node: yaml.Node) -> str:
    return f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}"
