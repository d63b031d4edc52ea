"""Every flag that more than one command may have: its name, its variable, its help.

Gives annotated types for Typer. Defaults stand in `pipelines.config`; what a flag shows as its
default is compared with them by a test. Knows no command.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

__all__ = [
    "Bare",
    "BatchSize",
    "Calibrate",
    "Choices",
    "ChoicesFile",
    "Device",
    "DeviceMap",
    "Dtype",
    "Encoding",
    "Examples",
    "Grammar",
    "GrammarFormat",
    "IdField",
    "Inputs",
    "Keep",
    "MaxBytes",
    "MaxNewTokens",
    "MinP",
    "Model",
    "Output",
    "Overwrite",
    "Prompt",
    "Quiet",
    "Regex",
    "Schema",
    "SchemaField",
    "Scores",
    "Seed",
    "Strict",
    "System",
    "Tags",
    "Temperature",
    "TextColumn",
    "TextField",
    "TopK",
    "TopP",
    "TrustRemoteCode",
    "Whitespace",
]

CONSTRAINT = "Constraint"
READING = "Reading"
PROMPTING = "Prompt"
MODEL = "Model"
DECODING = "Decoding"
WRITING = "Writing"


def _flag(panel: str, names: str, text: str, default: str = "", metavar: str | None = None) -> Any:
    """Return a Typer option whose environment variable is CONSTRAIN_ and the flag's name.

    `names` are its spellings, separated by blanks; `default` is what the help shows as such.
    """
    spellings = names.split()
    long_name = next(name for name in spellings if name.startswith("--")).split("/")[0]
    return typer.Option(
        *spellings,
        envvar="CONSTRAIN_" + long_name.removeprefix("--").replace("-", "_").upper(),
        show_envvar=False,
        help=f"{text.removesuffix('.')} (default {default})." if default else text,
        show_default=False,
        rich_help_panel=panel,
        metavar=metavar,
    )


def _switch(panel: str, names: str, text: str) -> Any:
    """Return a Typer option that takes no value."""
    return _flag(panel, names, text, metavar="")


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUTS",
        help="Files (.txt, .md, .jsonl, .parquet), folders, glob patterns, or - for stdin.",
        show_default=False,
    ),
]

Schema = Annotated[
    str | None,
    _flag(
        CONSTRAINT,
        "--schema -s",
        "JSON Schema: a .json or .yaml file, inline JSON, module:Model or file.py:Model.",
        metavar="SCHEMA",
    ),
]
SchemaField = Annotated[
    str | None,
    _flag(
        CONSTRAINT,
        "--schema-field",
        "Field or column with a JSON Schema for each row; --schema is then for rows without.",
        metavar="NAME",
    ),
]
Regex = Annotated[
    str | None,
    _flag(CONSTRAINT, "--regex", "Regular expression that the whole text matches."),
]
Grammar = Annotated[
    str | None,
    _flag(
        CONSTRAINT,
        "--grammar",
        "Grammar that the whole text is of: a file in GBNF or Lark's EBNF.",
        metavar="FILE",
    ),
]
GrammarFormat = Annotated[
    str | None,
    _flag(
        CONSTRAINT,
        "--grammar-format",
        "gbnf or lark; without it the grammar tells.",
        metavar="FORMAT",
    ),
]
Tags = Annotated[
    str | None,
    _flag(
        CONSTRAINT,
        "--tags",
        "YAML file of parts: free text with constrained islands.",
        metavar="FILE",
    ),
]
Tools = Annotated[
    str | None,
    _flag(
        CONSTRAINT,
        "--tools",
        "JSON or YAML file of functions to call, in OpenAI's format.",
        metavar="FILE",
    ),
]
ParallelTools = Annotated[
    int | None,
    _flag(
        CONSTRAINT,
        "--parallel-tools",
        "A record is a list of one to N calls, not one call.",
        metavar="N",
    ),
]
Choices = Annotated[
    str | None,
    _flag(CONSTRAINT, "--choices", "Labels, separated by commas.", metavar="A,B,..."),
]
ChoicesFile = Annotated[
    str | None,
    _flag(CONSTRAINT, "--choices-file", "File with one label a line.", metavar="FILE"),
]
Whitespace = Annotated[
    str | None,
    _flag(
        CONSTRAINT,
        "--whitespace",
        "Whitespace in JSON: compact, spaced, pretty, or flexible, which is any of these.",
        "flexible",
        metavar="POLICY",
    ),
]
Strict = Annotated[
    bool,
    _switch(CONSTRAINT, "--strict", "Refuse a schema that needs checks after generation."),
]

TextField = Annotated[
    str | None,
    _flag(READING, "--text-field", "Field of a JSONL row that holds the text.", "text"),
]
TextColumn = Annotated[
    str | None,
    _flag(READING, "--text-column", "Column of a Parquet file that holds the text.", "text"),
]
IdField = Annotated[
    str | None, _flag(READING, "--id-field", "Field or column that holds the id.", "id")
]
Keep = Annotated[
    list[str] | None,
    _flag(READING, "--keep", "Field or column carried into the record; may be repeated."),
]
Encoding = Annotated[
    str | None,
    _flag(READING, "--encoding", "Encoding of text files.", "UTF-8, else detected"),
]
MaxBytes = Annotated[
    int | None,
    _flag(READING, "--max-bytes", "Largest document that is read, in bytes.", "64 MiB"),
]

Examples = Annotated[
    str | None,
    _flag(
        PROMPTING,
        "--examples -e",
        "Golden file whose first N rows (or all) become examples in the prompt.",
        metavar="GOLDEN.jsonl[:N]",
    ),
]
Prompt = Annotated[
    str | None,
    _flag(PROMPTING, "--prompt", "Jinja template instead of the built-in prompt.", metavar="FILE"),
]
System = Annotated[
    str | None, _flag(PROMPTING, "--system", "System message instead of the built-in one.")
]

Model = Annotated[
    str | None,
    _flag(MODEL, "--model -m", "Alias, hub id, folder or GGUF file.", "smollm2-135m"),
]
Device = Annotated[str | None, _flag(MODEL, "--device", "cpu, cuda, cuda:1, mps.", "auto")]
Dtype = Annotated[str | None, _flag(MODEL, "--dtype", "float32, bfloat16 or float16.", "auto")]
DeviceMap = Annotated[
    str | None,
    _flag(MODEL, "--device-map", "Spread a big model over devices, for example: auto."),
]
TrustRemoteCode = Annotated[
    bool,
    _switch(MODEL, "--trust-remote-code", "Run code that comes with the model. Off for a reason."),
]

BatchSize = Annotated[
    int | None, _flag(DECODING, "--batch-size -b", "Documents decoded at one time.", "8")
]
MaxNewTokens = Annotated[
    int | None, _flag(DECODING, "--max-new-tokens", "Longest answer, in tokens.", "512")
]
Temperature = Annotated[
    float | None,
    _flag(DECODING, "--temperature", "Above 0 samples; 0 takes the likeliest token.", "0"),
]
TopK = Annotated[int | None, _flag(DECODING, "--top-k", "Sample among the k likeliest; 0 is off.")]
TopP = Annotated[float | None, _flag(DECODING, "--top-p", "Sample from the likeliest p; 1 is off.")]
MinP = Annotated[
    float | None,
    _flag(DECODING, "--min-p", "Drop tokens below p times the likeliest; 0 is off."),
]
Seed = Annotated[int | None, _flag(DECODING, "--seed", "Seed of the sampling.", "0")]
Calibrate = Annotated[
    bool,
    _switch(
        DECODING,
        "--calibrate/--no-calibrate",
        "Subtract each label's score under an empty document (default).",
    ),
]
Scores = Annotated[
    bool, _switch(DECODING, "--scores", "Write the raw log-probabilities of all labels too.")
]

Output = Annotated[
    str | None,
    _flag(
        WRITING,
        "--output -o",
        "Where records go: .jsonl, .parquet, or - for stdout.",
        "-",
        metavar="FILE",
    ),
]
Overwrite = Annotated[bool, _switch(WRITING, "--overwrite", "Replace an output that exists.")]
Bare = Annotated[bool, _switch(WRITING, "--bare", "Write the values alone, without records.")]
Quiet = Annotated[bool, _switch(WRITING, "--quiet -q", "No progress, no table; errors only.")]
