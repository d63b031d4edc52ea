"""A finished value -> what is wrong with it: by jsonschema, and by the Pydantic model if any.

Independent of the engine on purpose: it checks what the engine promised, and the keywords the
engine leaves for afterwards. Takes parsed JSON; knows nothing of tokens or records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pipelines.jsontext import pointer

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["Fault", "Validator", "asserted_formats"]

_MAX_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason why a value is invalid: where (JSON Pointer), by which keyword, and how."""

    pointer: str
    keyword: str
    reason: str


def asserted_formats() -> tuple[str, ...]:
    """Return the names of the formats that are asserted: those the engine answers for."""
    from constrain.schema.formats import FORMATS  # noqa: PLC0415

    return tuple(FORMATS)


class Validator:
    """Checks values against a schema: dialect from `$schema`, else 2020-12; formats asserted."""

    def __init__(
        self,
        schema: Mapping[str, Any] | bool,
        adapter: TypeAdapter[Any] | None = None,
    ) -> None:
        from jsonschema import Draft202012Validator, FormatChecker  # noqa: PLC0415
        from jsonschema.validators import extend, validator_for  # noqa: PLC0415
        from jsonschema_specifications import (  # type: ignore[import-untyped]  # noqa: PLC0415
            REGISTRY,
        )

        base = validator_for(schema, default=Draft202012Validator)
        checker = FormatChecker(())
        known = Draft202012Validator.FORMAT_CHECKER.checkers
        checker.checkers = {name: known[name] for name in asserted_formats() if name in known}
        kind: Any = extend(base, {"pattern": _pattern})  # type: ignore[no-untyped-call]
        # Naming a registry keeps jsonschema from fetching what a $ref names.
        self._validator = kind(schema, format_checker=checker, registry=REGISTRY)
        self._adapter = adapter

    def faults(self, value: Any) -> tuple[Fault, ...]:
        """Return what is wrong with `value` (at most 20 faults), or nothing."""
        found = tuple(islice(self._schema_faults(value), _MAX_FAULTS))
        if not found and self._adapter is not None:
            found = tuple(islice(_model_faults(self._adapter, value), _MAX_FAULTS))
        return found

    def _schema_faults(self, value: Any) -> Iterator[Fault]:
        for error in self._validator.iter_errors(value):
            place = pointer(list(error.absolute_path))
            yield Fault(place, str(error.validator), _short(error.message))


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[Any]:
    """Search with `regex`, which knows Unicode properties; patterns it can't read fault nothing."""
    import regex  # type: ignore[import-untyped]  # noqa: PLC0415
    from jsonschema import ValidationError  # noqa: PLC0415

    if not isinstance(value, str):
        return
    try:
        found = regex.search(pattern, value, regex.VERSION0, timeout=5.0)
    except (regex.error, TimeoutError):
        return  # the engine has matched it; there is no second opinion to be had
    if found is None:
        yield ValidationError(f"{_short(value)!r} does not match {pattern!r}")


def _model_faults(adapter: TypeAdapter[Any], value: Any) -> Iterator[Fault]:
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        adapter.validate_json(json.dumps(value))
    except ValidationError as error:
        for entry in error.errors(include_url=False, include_input=False, include_context=False):
            place = pointer(_existing(value, entry["loc"]))
            yield Fault(place, "model", entry["msg"].removeprefix("Value error, "))
    except Exception as error:  # noqa: BLE001  (a validator of the user's own may raise anything)
        yield Fault("", "model", f"the model's validator failed ({type(error).__name__}: {error})")


def _existing(value: Any, path: tuple[str | int, ...]) -> list[str | int]:
    """Drop the parts of Pydantic's path that name types (branches of a union), not places."""
    found: list[str | int] = []
    for number, part in enumerate(path):
        inside = (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        )
        if inside:
            found.append(part)
            value = value[part]
        elif isinstance(value, dict) and number == len(path) - 1:
            found.append(part)  # a key that is missing
    return found


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:200]} ... {text[-80:]}"
