"""JSON text in and out, strictly: what RFC 8259 says, nothing lost, nothing ambiguous.

Reading refuses doubled keys, NaN and Infinity, and numbers that no float holds. Writing gives one
line that every line splitter keeps whole. Knows nothing of records or schemas.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn

__all__ = ["JsonError", "dumps_line", "jsonable", "loads_strict", "pointer", "spell_json"]

# Raw, these end a line for str.splitlines (and so for many readers of JSONL); a lone surrogate
# has no UTF-8 at all. Both are written as \\u escapes.
_UNSAFE = re.compile("[\u0085\u2028\u2029\u007f\ud800-\udfff]")


class JsonError(ValueError):
    """Text that is not the JSON we accept. `line` and `column` are from 1, or 0 if unknown."""

    def __init__(self, fact: str, line: int = 0, column: int = 0) -> None:
        self.fact = fact
        self.line = line
        self.column = column
        super().__init__(f"line {line}, column {column}: {fact}" if line else fact)


def loads_strict(text: str) -> Any:
    """Parse `text`; raise `JsonError` for whatever is not plain, unambiguous JSON."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
    except json.JSONDecodeError as error:
        fact = error.msg[:1].lower() + error.msg[1:]
        raise JsonError(fact, error.lineno, error.colno) from None
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except JsonError:
        raise
    except ValueError as error:  # an integer of more digits than Python converts
        raise JsonError(str(error).split(";")[0].lower()) from None


def dumps_line(value: Any) -> str:
    """Write `value` as one line of JSON (spaced, UTF-8 text kept), safe to split by any rule."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def spell_json(value: Any, whitespace: str) -> str:
    """Return the value as JSON, its keys in their order, with blanks as a whitespace policy asks.

    `flexible` is spelled as `json.dumps` does.
    """
    if whitespace == "compact":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False, indent=2 if whitespace == "pretty" else None)


def jsonable(value: Any) -> Any:
    """Turn a value of a data file into JSON values, exactly.

    Decimals become integers where they are whole, else text; dates and times ISO 8601 text;
    durations seconds; bytes text where they are UTF-8, else base64; NaN and infinities text.
    """
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, str | int):
        return value
    return _scalar(value)


def pointer(parts: list[str | int] | tuple[str | int, ...]) -> str:
    """Return the JSON Pointer (RFC 6901) of a path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _scalar(value: Any) -> Any:
    if isinstance(value, Decimal):
        whole = value.is_finite() and value == value.to_integral_value()
        return int(value) if whole else str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return _text_of_bytes(value)
    return str(value)


def _text_of_bytes(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(value).decode("ascii")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        doubled = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"the key {doubled!r} is given twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise JsonError(f"the number {text[:40]} is too large")
    return number
