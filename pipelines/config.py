"""What a run is asked to do: one frozen value for each command, in nested groups.

Takes plain values (from flags, the environment, a file) and gives checked ones; unknown options
are refused. Reads no file and knows no flag names: `place` in its errors is the dotted option.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipelines.errors import ConfigError

__all__ = [
    "ClassifyConfig",
    "ConstraintConfig",
    "DecodingConfig",
    "ExtractConfig",
    "InputConfig",
    "LabelsConfig",
    "ModelConfig",
    "OutputConfig",
    "PromptConfig",
    "SchemaInputConfig",
    "build_config",
]

Whitespace = Literal["compact", "spaced", "pretty", "flexible"]


class _Group(BaseModel):
    """A frozen group of options; a name that is not an option is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class InputConfig(_Group):
    """Where the documents are and how to read them.

    `paths`: files, folders (read with all below them), glob patterns, or "-" for stdin.
    `text_field`: the field of a JSONL row that holds the text ("text" when None); giving it also
    makes stdin JSONL. `text_column`: the same for Parquet. `id_field`: field or column with the
    document's id, where a row has one. `keep`: fields or columns carried into the record.
    `encoding`: of text and JSONL files; None detects it. `max_bytes`: the largest text document.
    """

    paths: tuple[str, ...] = Field(min_length=1)
    text_field: str | None = None
    text_column: str | None = None
    id_field: str = "id"
    keep: tuple[str, ...] = ()
    encoding: str | None = None
    max_bytes: int = Field(default=64 * 2**20, gt=0)

    @property
    def schema_column(self) -> str | None:
        """The field or column with a schema for each row, where rows bring one."""
        return None

    @model_validator(mode="after")
    def _encoding_is_known(self) -> Self:
        if self.encoding is not None:
            try:
                known = "".encode(self.encoding) == b"" or self.encoding.lower().startswith("utf")
            except LookupError:
                known = False
            if not known:
                raise ValueError(f"no encoding is called {self.encoding!r}")
        return self

    @model_validator(mode="after")
    def _stdin_comes_once(self) -> Self:
        if self.paths.count("-") > 1:
            raise ValueError("'-' (stdin) can be given once")
        return self


class SchemaInputConfig(InputConfig):
    """Inputs whose rows may bring a schema of their own, in `schema_field`. Stdin is JSONL."""

    schema_field: str

    @property
    def schema_column(self) -> str | None:
        """The field or column with a schema for each row."""
        return self.schema_field


class ConstraintConfig(_Group):
    """What every answer must satisfy: exactly one of the kinds of constraint.

    `schema_spec` (also accepted as `schema`): a JSON or YAML file, inline JSON,
    `module:Model` or `file.py:Model`. `schema_field`: the field or column in which a row brings a
    JSON Schema of its own; `schema_spec` is then for the rows that bring none. `regex`. `grammar`:
    a file in GBNF or Lark's EBNF, which its text tells if not `grammar_format`. `tags`: a YAML file
    of structural tags. `tools`: a JSON or YAML file of functions to call, up to `parallel_tools` in
    a list. `choices` or `choices_file` (one a line). `whitespace`: the policy for JSON answers.
    `strict`: refuse a schema with keywords that are only checked after generation.
    """

    schema_spec: str | None = Field(default=None, alias="schema")
    schema_field: str | None = Field(default=None, min_length=1)
    regex: str | None = None
    grammar: str | None = None
    grammar_format: Literal["gbnf", "lark"] | None = None
    tags: str | None = None
    tools: str | None = None
    parallel_tools: int | None = Field(default=None, ge=1)
    choices: tuple[str, ...] | None = None
    choices_file: str | None = None
    whitespace: Whitespace = "flexible"
    strict: bool = False

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = (self.regex, self.grammar, self.tags, self.tools, self.choices, self.choices_file)
        others = sum(kind is not None for kind in given)
        if self.schema_field is not None and others:
            raise ValueError("schema_field goes with schema alone; drop it, or the other")
        if self.schema_field is None and others + (self.schema_spec is not None) != 1:
            raise ValueError(
                "give exactly one of schema, regex, grammar, tags, tools, choices and "
                "choices_file, or schema_field"
            )
        if self.grammar_format is not None and self.grammar is None:
            raise ValueError("grammar_format is for a grammar; give one, or drop it")
        if self.parallel_tools is not None and self.tools is None:
            raise ValueError("parallel_tools is for tools; give some, or drop it")
        if self.choices is not None:
            _check_labels(self.choices)
        return self


class LabelsConfig(_Group):
    """The labels of a classification, and how their scores are used.

    `choices` or `choices_file` (one label a line). `calibrate`: subtract the score each label
    gets under an empty document. `scores`: put raw log-probabilities into the record's meta.
    `batch_size`: documents scored together.
    """

    choices: tuple[str, ...] | None = None
    choices_file: str | None = None
    calibrate: bool = True
    scores: bool = False
    batch_size: int = Field(default=8, ge=1)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.choices is None) == (self.choices_file is None):
            raise ValueError("give exactly one of choices and choices_file")
        if self.choices is not None:
            _check_labels(self.choices)
        return self


class ModelConfig(_Group):
    """The model and where it runs: an alias, a hub id, a folder, or a GGUF file."""

    name: str = Field(default="smollm2-135m", min_length=1)
    device: str = "auto"
    dtype: str = "auto"
    device_map: str | None = None
    trust_remote_code: bool = False


class DecodingConfig(_Group):
    """How tokens are chosen. `temperature` 0 is greedy; `top_k` 0 and `top_p` 1 are off."""

    batch_size: int = Field(default=8, ge=1)
    max_new_tokens: int = Field(default=512, ge=1)
    temperature: float = Field(default=0.0, ge=0.0)
    top_k: int = Field(default=0, ge=0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    min_p: float = Field(default=0.0, ge=0.0, lt=1.0)
    seed: int = 0


class PromptConfig(_Group):
    """What surrounds the document.

    `file`: a Jinja template that replaces the user message. `examples`: a golden file,
    `FILE.jsonl` or `FILE.jsonl:N` for its first N rows. `system`: replaces the system message.
    """

    file: str | None = None
    examples: str | None = None
    system: str | None = None


class OutputConfig(_Group):
    """Where records go: "-" is stdout; the suffix of a file name says its format.

    `bare`: the value alone instead of the record (JSONL only). `overwrite`: replace what is there.
    """

    path: str = Field(default="-", min_length=1)
    bare: bool = False
    overwrite: bool = False

    @property
    def format(self) -> Literal["jsonl", "parquet"]:
        """Return the format of the output."""
        return "parquet" if PurePath(self.path).suffix.lower() == ".parquet" else "jsonl"

    @model_validator(mode="after")
    def _format_is_known(self) -> Self:
        suffix = PurePath(self.path).suffix.lower()
        if self.path != "-" and suffix not in {".jsonl", ".ndjson", ".parquet"}:
            raise ValueError(
                f"the suffix of {self.path!r} names no output format; end it in .jsonl or .parquet"
            )
        if self.bare and suffix == ".parquet":
            raise ValueError("bare values are written as JSONL only; drop it, or write .jsonl")
        return self


class ExtractConfig(_Group):
    """Everything `extract` needs."""

    inputs: InputConfig
    constraint: ConstraintConfig
    model: ModelConfig = ModelConfig()
    decoding: DecodingConfig = DecodingConfig()
    prompt: PromptConfig = PromptConfig()
    output: OutputConfig = OutputConfig()

    @property
    def reading(self) -> InputConfig:
        """How to read the documents: with their own schemas, where rows bring them."""
        field = self.constraint.schema_field
        if field is None:
            return self.inputs
        return SchemaInputConfig(**self.inputs.model_dump(), schema_field=field)

    @model_validator(mode="after")
    def _examples_have_one_schema(self) -> Self:
        if self.prompt.examples is not None and self.constraint.schema_field is not None:
            raise ValueError(
                "examples are answers to one schema, but schema_field gives each document its own; "
                "drop one of the two"
            )
        return self


class ClassifyConfig(_Group):
    """Everything `classify` needs."""

    inputs: InputConfig
    labels: LabelsConfig
    model: ModelConfig = ModelConfig()
    prompt: PromptConfig = PromptConfig()
    output: OutputConfig = OutputConfig()


_Config = TypeVar("_Config", bound=_Group)


def build_config(kind: type[_Config], values: Mapping[str, Any]) -> _Config:
    """Build a config from nested plain values; raise `ConfigError` naming the first bad option."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        fact = first["msg"].removeprefix("Value error, ")
        raise ConfigError(fact, place=place) from None


def _check_labels(labels: tuple[str, ...]) -> None:
    if not labels or any(not label.strip() for label in labels):
        raise ValueError("every choice needs text")
    doubled = sorted(label for label, count in Counter(labels).items() if count > 1)
    if doubled:
        raise ValueError(f"the choice {doubled[0]!r} is given twice")
