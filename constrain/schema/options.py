"""SchemaOptions: how the instances of a schema may be spelled, and how strict a compile is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["SchemaOptions", "Whitespace"]

Whitespace = Literal["compact", "spaced", "pretty", "flexible"]


@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """What a schema's texts look like.

    `whitespace` is the policy for blanks between JSON tokens: `compact` has none, `spaced` one
    space after `:` and `,`, `pretty` a newline and an indentation before each member, `flexible`
    any of the three in each gap. `indentation` is the longest indentation in blanks.

    `strict` refuses a schema that holds a keyword the mask cannot enforce, where otherwise the
    keyword is answered "checked".

    A number has at most `integer_digits` digits before the point, `fraction_digits` after it and,
    where it has no bounds, an exponent between -279 and 279: enough for every number that a person
    or a JSON writer writes (a binary float has 17 digits), and an end to digits that run on. A
    bound or constant with more digits raises the limit for its own schema.

    With `distinct_keys` no key is written twice in one object, also where a schema names none: most
    readers would keep one of the two values and drop the other. It costs some 10 microseconds a
    token inside objects that allow such keys. Where a schema counts keys or compares items it is
    always so.
    """

    whitespace: Whitespace = "flexible"
    strict: bool = False
    indentation: int = 40
    integer_digits: int = 20
    fraction_digits: int = 17
    distinct_keys: bool = False
