"""The column types of Parquet output, from a schema and widened by the values that come.

The rule: strings are strings, booleans bool, integers int64 (decimal128(38, 0) or text where a
bound of the schema or a value needs it), numbers float64, arrays lists, objects structs whose
undeclared keys lie as JSON text in `_extra`. What has no type (unions, free-form or empty objects,
tuples, recursion) is JSON text. Every column is nullable; a missing key is null. Knows no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pipelines.schematree import Schema, follow, item_schema, merged_single

__all__ = [
    "Column",
    "Json",
    "List",
    "Scalar",
    "Struct",
    "Unseen",
    "column_for",
    "extra_name",
    "widen",
]

Kind = Literal["string", "bool", "int53", "int64", "decimal", "bigint", "float64"]
_EXTRA = "_extra"
_WIDTHS: list[Kind] = ["int53", "int64", "decimal", "bigint"]
_INT53 = range(-(2**53), 2**53 + 1)
_INT64 = range(-(2**63), 2**63)
_DECIMAL = range(-(10**38) + 1, 10**38)


@dataclass(frozen=True, slots=True)
class Unseen:
    """A column of which no value and no schema is known yet."""


@dataclass(frozen=True, slots=True)
class Json:
    """Values as JSON text, so that 1 and "1" stay apart."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A plain type. `int53` is an int64 whose values a float holds, too, should one come.

    `bigint` is an integer of any size, as its digits.
    """

    kind: Kind


@dataclass(frozen=True, slots=True)
class List:
    """A list whose items have one type."""

    item: Column


@dataclass(frozen=True, slots=True)
class Struct:
    """Named fields in order; `extra` when some value had keys beside them."""

    fields: Mapping[str, Column] = field(default_factory=dict)
    extra: bool = False


Column = Unseen | Json | Scalar | List | Struct


def column_for(schema: Schema, root: Schema, seen: frozenset[str] = frozenset()) -> Column:
    """Return the column of a schema's values; `Json` where the rule finds no type."""
    return _column(schema, root, seen) or Json()


def widen(column: Column, value: Any) -> Column:
    """Return the narrowest column that holds what `column` holds and `value`, exactly."""
    if value is None or isinstance(column, Json):
        return column
    if isinstance(column, Unseen):
        return _column_of_value(value)
    if isinstance(column, List) and isinstance(value, list):
        item = column.item
        for element in value:
            item = widen(item, element)
        return column if item == column.item else List(item)
    if isinstance(column, Struct) and isinstance(value, dict):
        return _widen_struct(column, value)
    if isinstance(column, Scalar):
        return _widen_scalar(column, value)
    return Json()


def extra_name(column: Struct) -> str:
    """Return the name of the field for undeclared keys, one that no declared field has."""
    name = _EXTRA
    while name in column.fields:
        name += "_"
    return name


def _column(schema: Schema, root: Schema, seen: frozenset[str]) -> Column | None:
    """Return the column, or None for a schema that only allows null."""
    schema = merged_single(schema)
    while isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        if schema["$ref"] in seen:
            return Json()
        seen |= {schema["$ref"]}
        schema = merged_single(follow(schema, root))
    if isinstance(schema, bool):
        return Json()
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and options:
            return _common([_column(option, root, seen) for option in options])
    if "const" in schema:
        return _common([_column_of_constant(schema["const"])])
    if isinstance(schema.get("enum"), list):
        return _common([_column_of_constant(value) for value in schema["enum"]])
    return _typed(schema, root, seen)


def _typed(schema: Mapping[str, Any], root: Schema, seen: frozenset[str]) -> Column | None:
    named = schema.get("type", "object" if "properties" in schema else [])
    kinds = {named} if isinstance(named, str) else set(named)
    if kinds == {"null"}:
        return None
    kinds -= {"null"}
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) != 1:
        return Json()
    return _column_of_type(kinds.pop(), schema, root, seen)


def _column_of_type(
    kind: str, schema: Mapping[str, Any], root: Schema, seen: frozenset[str]
) -> Column:
    if kind == "string":
        return Scalar("string")
    if kind == "boolean":
        return Scalar("bool")
    if kind == "number":
        return Scalar("float64")
    if kind == "integer":
        return Scalar(_integer_kind(schema))
    if kind == "array":
        items = item_schema(schema, root)
        return (
            Json()
            if items is None or isinstance(items, bool)
            else List(column_for(items, root, seen))
        )
    declared = schema.get("properties")
    if not isinstance(declared, Mapping) or not declared:
        return Json()
    return Struct({name: column_for(inner, root, seen) for name, inner in declared.items()})


def _integer_kind(schema: Mapping[str, Any]) -> Kind:
    bounds = [
        schema.get(key) for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    ]
    whole = [int(bound) for bound in bounds if isinstance(bound, int | float)]
    return _kind_of_integers(whole)


def _kind_of_integers(values: list[int]) -> Kind:
    if all(value in _INT53 for value in values):
        return "int53"
    if all(value in _INT64 for value in values):
        return "int64"
    return "decimal" if all(value in _DECIMAL for value in values) else "bigint"


def _common(columns: list[Column | None]) -> Column | None:
    """Return the one column all alternatives share; those that only allow null don't count."""
    given = [column for column in columns if column is not None]
    if not given or all(column == given[0] for column in given):
        return given[0] if given else None
    kinds = {column.kind for column in given if isinstance(column, Scalar)}
    if any(not isinstance(column, Scalar) for column in given):
        return Json()
    if kinds <= set(_WIDTHS):
        return Scalar(max(kinds, key=_WIDTHS.index))
    return Scalar("float64") if kinds == {"int53", "float64"} else Json()


def _column_of_constant(value: Any) -> Column | None:
    return None if value is None else _column_of_value(value)


def _column_of_value(value: Any) -> Column:
    if isinstance(value, bool):
        return Scalar("bool")
    if isinstance(value, int):
        return Scalar(_kind_of_integers([value]))
    if isinstance(value, float):
        return Scalar("float64")
    return Scalar("string") if isinstance(value, str) else Json()


def _widen_struct(column: Struct, value: Mapping[str, Any]) -> Column:
    fields = {name: widen(inner, value.get(name)) for name, inner in column.fields.items()}
    extra = column.extra or any(key not in fields for key in value)
    return replace(column, fields=fields, extra=extra)


def _widen_scalar(column: Scalar, value: Any) -> Column:
    kind = column.kind
    if kind == "string":
        return column if isinstance(value, str) else Json()
    if kind == "bool":
        return column if isinstance(value, bool) else Json()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Json()
    if kind == "float64":
        return column if _is_exact_float(value) else Json()
    if isinstance(value, float) and not value.is_integer():
        return Scalar("float64") if kind == "int53" else Json()
    widest = max((kind, _kind_of_integers([int(value)])), key=_WIDTHS.index)
    return Scalar(widest)


def _is_exact_float(value: float) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False
