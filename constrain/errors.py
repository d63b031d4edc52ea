"""Every error the engine raises, as data with a written text: place, fact, remedy.

    ConstrainError
    ├── ConstraintError           the user's constraint cannot be used as it stands
    │   ├── SchemaError           not a schema, at a JSON Pointer
    │   │   ├── UnsupportedSchema     a keyword that is refused
    │   │   ├── UnsatisfiableSchema   no instance can satisfy it
    │   │   └── UnresolvableReference a $ref that points nowhere, or outside
    │   ├── RegexError            a pattern, with the column
    │   └── GrammarError          a grammar, with line and column
    ├── LimitExceeded             a compile ran into one of its Limits
    ├── VocabularyError           a tokenizer that cannot be read as bytes
    ├── MatcherError              a Matcher was used wrongly
    └── ModelError                a model that cannot be found, loaded or run
        └── UnknownModel              there is no such model, device or dtype

An outcome (a token refused, a text incomplete) is a value, never an exception.
"""

from __future__ import annotations

__all__ = [
    "ConstrainError",
    "ConstraintError",
    "GrammarError",
    "LimitExceeded",
    "MatcherError",
    "ModelError",
    "RegexError",
    "SchemaError",
    "UnknownModel",
    "UnresolvableReference",
    "UnsatisfiableSchema",
    "UnsupportedSchema",
    "VocabularyError",
]


class ConstrainError(Exception):
    """Base of all errors of this project. `str(error)` is what a user reads."""


class ConstraintError(ConstrainError):
    """A constraint that cannot be used. Attributes: `place`, `fact`, `remedy`."""

    def __init__(self, fact: str, *, place: str = "", remedy: str = "") -> None:
        self.place = place
        self.fact = fact
        self.remedy = remedy
        super().__init__(_sentence(place, fact, remedy))


class SchemaError(ConstraintError):
    """A JSON Schema that is not one. `pointer` is a JSON Pointer (RFC 6901), without '#'."""

    def __init__(self, fact: str, *, pointer: str = "", remedy: str = "") -> None:
        self.pointer = pointer
        super().__init__(fact, place=f"#{pointer}", remedy=remedy)


class UnsupportedSchema(SchemaError):
    """A keyword, or a value of one, that the engine refuses."""


class UnsatisfiableSchema(SchemaError):
    """No instance satisfies the schema (or a part of it that must be present)."""


class UnresolvableReference(SchemaError):
    """A `$ref` that names nothing in the document or in those given with it."""


class RegexError(ConstraintError):
    """A regular expression that cannot be read. Attributes: `pattern`, `position` (code points)."""

    def __init__(self, fact: str, *, pattern: str, position: int, remedy: str = "") -> None:
        self.pattern = pattern
        self.position = position
        super().__init__(fact, place=f"pattern, column {position + 1}", remedy=remedy)

    def __str__(self) -> str:
        """Return the sentence, then the pattern with a caret under the fault."""
        start = max(0, self.position - 40)
        shown = self.pattern[start : start + 80].replace("\n", " ")
        return f"{super().__str__()}\n  {shown}\n  {' ' * (self.position - start)}^"


class GrammarError(ConstraintError):
    """A grammar that cannot be read. Attributes: `line` and `column`, both from 1, and `shown`."""

    def __init__(
        self, fact: str, *, line: int, column: int, shown: str = "", remedy: str = ""
    ) -> None:
        self.line = line
        self.column = column
        self.shown = shown
        super().__init__(fact, place=f"line {line}, column {column}", remedy=remedy)

    def __str__(self) -> str:
        """Return the sentence, then the line with a caret under the fault."""
        start = max(0, self.column - 41)
        shown = self.shown[start : start + 80].replace("\t", " ")
        return f"{super().__str__()}\n  {shown}\n  {' ' * (self.column - 1 - start)}^"


class LimitExceeded(ConstrainError):
    """A compile ran into a limit. Attributes: `limit` (a field of Limits), `given`, `allowed`."""

    def __init__(self, limit: str, *, given: float, allowed: float, place: str = "") -> None:
        self.limit = limit
        self.given = given
        self.allowed = allowed
        self.place = place
        fact = f"the constraint needs {limit} = {given:g}, but only {allowed:g} are allowed"
        super().__init__(_sentence(place, fact, f"simplify it, or raise the limit {limit!r}"))


class VocabularyError(ConstrainError):
    """A tokenizer whose tokens cannot be read as bytes."""


class MatcherError(ConstrainError):
    """A Matcher was used wrongly: accepting after the end, rolling back too far."""


class ModelError(ConstrainError):
    """A model that cannot be found, loaded or run."""


class UnknownModel(ModelError):
    """What names a model, a device or a dtype names none: a mistake of usage."""


def _sentence(place: str, fact: str, remedy: str) -> str:
    head = f"at {place}: {fact}" if place else fact
    return f"{head}; {remedy}" if remedy else head
