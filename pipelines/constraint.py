"""The constraints of `extract`, each with all that the run asks of it.

A constraint compiles for a vocabulary, turns a finished text into a value, checks a value, and
spells an example's answer the way the model's own answers are spelled. Knows no documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from constrain.schema import SchemaOptions, schema_grammar
from constrain.syntax.regex import parse_regex
from pipelines.columns import Column, Scalar, column_for
from pipelines.config import ConstraintConfig
from pipelines.grammars import load_grammar
from pipelines.jsontext import loads_strict, spell_json
from pipelines.labels import load_labels
from pipelines.outline import outline
from pipelines.schemas import LoadedSchema, load_schema
from pipelines.schematree import in_schema_order
from pipelines.tags import load_tags
from pipelines.tools import load_tools
from pipelines.validate import Fault, Validator
from pipelines.wording import choice_task, pattern_task, schema_task

if TYPE_CHECKING:
    from constrain.limits import Limits
    from constrain.tables import CompiledConstraint
    from constrain.vocabulary import Vocabulary

__all__ = ["Constraint", "SchemaConstraint", "load_constraint", "schema_options"]


class Constraint(Protocol):
    """What an answer must satisfy."""

    is_json: bool

    @property
    def column(self) -> Column:
        """Return the column type of its values."""

    @property
    def instruction(self) -> str:
        """Return what the model is told to do."""

    @property
    def variables(self) -> dict[str, Any]:
        """Return what a prompt template may use of it."""

    def compile(self, vocabulary: Vocabulary) -> CompiledConstraint:
        """Compile it; raise `ConstraintError` or `LimitExceeded`."""

    def parse(self, text: str) -> Any:
        """Return the value of a finished answer; raise `JsonError`."""

    def spell(self, value: Any) -> str:
        """Return the answer that says `value`."""

    def faults(self, value: Any) -> Sequence[Fault]:
        """Return what is wrong with a value."""


def schema_options(config: ConstraintConfig) -> SchemaOptions:
    """Return how all schemas of a run are read."""
    return SchemaOptions(whitespace=config.whitespace, strict=config.strict, distinct_keys=True)


def load_constraint(config: ConstraintConfig) -> Constraint | None:
    """Load the constraint `config` names, and let the engine read it before anything else does.

    None when it names nothing but the schemas of rows. Raises ConfigError when it can't be loaded,
    ConstraintError or LimitExceeded when the engine refuses it: long before a model is loaded for
    nothing.
    """
    options = schema_options(config)
    if config.schema_spec is not None:
        loaded = load_schema(config.schema_spec)
        schema_grammar(loaded.schema, options)
        return SchemaConstraint(loaded, options)
    if config.regex is not None:
        parse_regex(config.regex)
        return RegexConstraint(config.regex)
    if config.grammar is not None:
        return load_grammar(config.grammar, config.grammar_format)
    if config.tags is not None:
        return load_tags(config.tags, options)
    if config.tools is not None:
        return load_tools(config.tools, config.parallel_tools, options)
    if config.schema_field is not None:
        return None
    return ChoiceConstraint(load_labels(config))


@dataclass(frozen=True)
class SchemaConstraint:
    """JSON that satisfies a schema."""

    loaded: LoadedSchema
    options: SchemaOptions
    is_json = True

    @property
    def column(self) -> Column:
        """Return the column type of its values."""
        return column_for(self.loaded.schema, self.loaded.schema)

    @property
    def instruction(self) -> str:
        """Return what the model is told to do."""
        return schema_task(self.loaded.schema)

    @property
    def variables(self) -> dict[str, Any]:
        """Return what a prompt template may use of it."""
        return {"schema": self.loaded.schema, "fields": outline(self.loaded.schema)}

    def compile(self, vocabulary: Vocabulary, limits: Limits | None = None) -> CompiledConstraint:
        """Compile the schema, or take it from the store."""
        from constrain.compiler import compile_schema  # noqa: PLC0415
        from constrain.store import default_store  # noqa: PLC0415

        return compile_schema(
            self.loaded.schema, vocabulary, self.options, limits, store=default_store()
        )

    def parse(self, text: str) -> Any:
        """Return the JSON value."""
        return loads_strict(text)

    def spell(self, value: Any) -> str:
        """Return the value as JSON, keys in schema order, blanks as the policy wants them."""
        ordered = in_schema_order(value, self.loaded.schema, self.loaded.schema)
        return spell_json(ordered, self.options.whitespace)

    def faults(self, value: Any) -> Sequence[Fault]:
        """Return what jsonschema and the Pydantic model say."""
        return self._validator.faults(value)

    @cached_property
    def _validator(self) -> Validator:
        return Validator(self.loaded.schema, self.loaded.adapter)


@dataclass(frozen=True)
class RegexConstraint:
    """Text that a regular expression matches as a whole."""

    pattern: str
    is_json = False

    @property
    def column(self) -> Column:
        """Return the column type of its values."""
        return Scalar("string")

    @property
    def instruction(self) -> str:
        """Return what the model is told to do."""
        return pattern_task(self.pattern)

    @property
    def variables(self) -> dict[str, Any]:
        """Return what a prompt template may use of it."""
        return {"regex": self.pattern}

    def compile(self, vocabulary: Vocabulary) -> CompiledConstraint:
        """Compile the pattern, or take it from the store."""
        from constrain.compiler import compile_regex  # noqa: PLC0415
        from constrain.store import default_store  # noqa: PLC0415

        return compile_regex(self.pattern, vocabulary, store=default_store())

    def parse(self, text: str) -> Any:
        """Return the text itself."""
        return text

    def spell(self, value: Any) -> str:
        """Return the text itself."""
        return str(value)

    def faults(self, value: Any) -> Sequence[Fault]:
        """Return whether `regex`, an independent matcher, disagrees."""
        import regex  # type: ignore[import-untyped]  # noqa: PLC0415

        if not isinstance(value, str):
            return [Fault("", "type", f"{value!r} is no text")]
        try:
            found = regex.fullmatch(self.pattern, value, timeout=5.0)
        except (regex.error, TimeoutError):
            return []  # the engine has matched it; there is no second opinion to be had
        return [] if found else [Fault("", "regex", f"{value!r} does not match {self.pattern!r}")]


@dataclass(frozen=True)
class ChoiceConstraint:
    """One of some texts, literally."""

    choices: tuple[str, ...]
    is_json = False

    @property
    def column(self) -> Column:
        """Return the column type of its values."""
        return Scalar("string")

    @property
    def instruction(self) -> str:
        """Return what the model is told to do."""
        return choice_task(self.choices)

    @property
    def variables(self) -> dict[str, Any]:
        """Return what a prompt template may use of it."""
        return {"choices": self.choices}

    def compile(self, vocabulary: Vocabulary) -> CompiledConstraint:
        """Compile the choices, or take them from the store."""
        from constrain.compiler import compile_choices  # noqa: PLC0415
        from constrain.store import default_store  # noqa: PLC0415

        return compile_choices(self.choices, vocabulary, store=default_store())

    def parse(self, text: str) -> Any:
        """Return the text itself."""
        return text

    def spell(self, value: Any) -> str:
        """Return the text itself."""
        return str(value)

    def faults(self, value: Any) -> Sequence[Fault]:
        """Return whether the value is none of the choices."""
        if value in self.choices:
            return []
        return [Fault("", "choices", f"{value!r} is none of the choices")]
