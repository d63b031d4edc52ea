"""Columns as Arrow fields, and values in and out of them.

What Arrow's types don't say (JSON text, digits of a big integer, undeclared keys) is written into
the field's metadata under `constrain`, so that a file can be read back as it was. A missing key
comes back as null. Knows no file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pipelines.columns import Column, Kind, List, Scalar, Struct, extra_name
from pipelines.jsontext import dumps_line, jsonable

__all__ = ["arrow_field", "from_arrow", "to_arrow"]

_MARK = b"constrain"


def arrow_field(name: str, column: Column) -> Any:
    """Return the pyarrow field of a column."""
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(column, List):
        return pa.field(name, pa.list_(arrow_field("element", column.item)))
    if isinstance(column, Struct):
        fields = [arrow_field(key, inner) for key, inner in column.fields.items()]
        if column.extra:
            fields.append(pa.field(extra_name(column), pa.string(), metadata={_MARK: b"extra"}))
        return pa.field(name, pa.struct(fields))
    if not isinstance(column, Scalar):
        return pa.field(name, pa.string(), metadata={_MARK: b"json"})
    if column.kind == "bigint":
        return pa.field(name, pa.string(), metadata={_MARK: b"bigint"})
    plain = {"bool": pa.bool_(), "float64": pa.float64(), "decimal": pa.decimal128(38, 0)}
    plain |= {"int53": pa.int64(), "int64": pa.int64()}
    return pa.field(name, plain.get(column.kind, pa.string()))


def from_arrow(value: Any, field: Any) -> Any:
    """Turn a value that `to_arrow` wrote, as pyarrow gives it, into the JSON value it was."""
    if value is None:
        return None
    mark = (field.metadata or {}).get(_MARK)
    if mark == b"json":
        return json.loads(value)
    if mark == b"bigint":
        return int(value)
    if isinstance(value, list):
        return [from_arrow(item, field.type.value_field) for item in value]
    if isinstance(value, dict):
        return _struct_from_arrow(value, field.type)
    return jsonable(value)


def _struct_from_arrow(value: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in kind:
        if (field.metadata or {}).get(_MARK) == b"extra":
            found |= json.loads(value[field.name] or "{}")
        else:
            found[field.name] = from_arrow(value[field.name], field)
    return found


def to_arrow(value: Any, column: Column) -> Any:
    """Turn a JSON value into what pyarrow stores in `column`, which must be wide enough."""
    if value is None:
        return None
    if isinstance(column, List):
        return [to_arrow(item, column.item) for item in value]
    if isinstance(column, Struct):
        return _struct_to_arrow(value, column)
    if isinstance(column, Scalar):
        return _scalar_to_arrow(value, column.kind)
    return dumps_line(value)


def _struct_to_arrow(value: Mapping[str, Any], column: Struct) -> dict[str, Any]:
    found = {name: to_arrow(value.get(name), inner) for name, inner in column.fields.items()}
    if column.extra:
        extra = {key: item for key, item in value.items() if key not in column.fields}
        found[extra_name(column)] = dumps_line(extra) if extra else None
    return found


def _scalar_to_arrow(value: Any, kind: Kind) -> Any:
    if kind == "string":
        return value.encode("utf-8", "replace").decode("utf-8")  # lone surrogates have no UTF-8
    if kind in {"int53", "int64"}:
        return int(value)
    if kind == "decimal":
        return Decimal(int(value))
    if kind == "bigint":
        return str(int(value))
    return float(value) if kind == "float64" else value
