"""Reading a JSON Schema as people write it: follow references, see through "or null".

For prompts, statistics and column types, which want the gist; the engine reads schemas exactly.
Only references inside the document are followed, none in circles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "Schema",
    "branches",
    "follow",
    "in_schema_order",
    "item_schema",
    "merged_single",
    "properties",
    "resolve",
]

Schema = Mapping[str, Any] | bool
_MAX_HOPS = 32


def follow(schema: Mapping[str, Any], root: Schema) -> Schema:
    """Follow one `$ref`; the keywords beside it are kept and win. `True` if it leads nowhere."""
    target = _look_up(schema["$ref"], root)
    if not isinstance(target, Mapping):
        return target if isinstance(target, bool) else True
    return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}


def resolve(schema: Schema, root: Schema) -> Schema:
    """Follow `$ref` until there is none."""
    for _ in range(_MAX_HOPS):
        schema = merged_single(schema)
        if isinstance(schema, bool) or not isinstance(schema.get("$ref"), str):
            return schema
        schema = follow(schema, root)
    return True


def merged_single(schema: Schema) -> Schema:
    """Lay an `allOf` with one branch into its schema (a described reference, in older Pydantic)."""
    if isinstance(schema, bool):
        return schema
    only = schema.get("allOf")
    if not isinstance(only, list) or len(only) != 1 or not isinstance(only[0], Mapping):
        return schema
    return {**only[0], **{key: value for key, value in schema.items() if key != "allOf"}}


def branches(schema: Schema, root: Schema) -> list[Schema]:
    """Return the alternatives of an `anyOf` or `oneOf` (flattened), or the schema alone."""
    schema = resolve(schema, root)
    if isinstance(schema, bool):
        return [schema]
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and options:
            return [resolve(option, root) for option in options]
    return [schema]


def properties(schema: Schema, root: Schema) -> Mapping[str, Schema]:
    """Return the declared properties of an object schema, in order."""
    schema = resolve(schema, root)
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def item_schema(schema: Schema, root: Schema) -> Schema | None:
    """Return the one schema of all items of an array, or None when there is no such."""
    schema = resolve(schema, root)
    if isinstance(schema, bool) or "prefixItems" in schema:
        return None
    items = schema.get("items")
    return items if isinstance(items, Mapping | bool) else None


def in_schema_order(value: Any, schema: Schema, root: Schema) -> Any:
    """Return `value` with the keys of its objects in the order of `properties`, extra keys last."""
    if isinstance(value, list):
        items = _branch_with(schema, root, "items")
        inner = item_schema(items, root) if items is not None else None
        return [in_schema_order(item, True if inner is None else inner, root) for item in value]
    if not isinstance(value, dict):
        return value
    owner = _branch_with(schema, root, "properties")
    declared = properties(owner, root) if owner is not None else {}
    keys = [key for key in declared if key in value] + [key for key in value if key not in declared]
    return {key: in_schema_order(value[key], declared.get(key, True), root) for key in keys}


def _branch_with(schema: Schema, root: Schema, keyword: str) -> Schema | None:
    found = (b for b in branches(schema, root) if isinstance(b, Mapping) and keyword in b)
    return next(found, None)


def _look_up(reference: str, root: Schema) -> Any:
    if not reference.startswith("#"):
        return None
    found: Any = root
    for part in reference[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found
