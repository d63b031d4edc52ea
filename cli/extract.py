"""`constrain extract`: documents become records that satisfy a constraint."""

from __future__ import annotations

import typer

from cli import options
from cli.running import execute, split_labels
from cli.settings import build

__all__ = ["extract"]


def extract(
    ctx: typer.Context,
    inputs: options.Inputs,
    *,
    schema: options.Schema = None,
    schema_field: options.SchemaField = None,
    regex: options.Regex = None,
    grammar: options.Grammar = None,
    grammar_format: options.GrammarFormat = None,
    tags: options.Tags = None,
    tools: options.Tools = None,
    parallel_tools: options.ParallelTools = None,
    choices: options.Choices = None,
    choices_file: options.ChoicesFile = None,
    whitespace: options.Whitespace = None,
    strict: options.Strict = False,
    text_field: options.TextField = None,
    text_column: options.TextColumn = None,
    id_field: options.IdField = None,
    keep: options.Keep = None,
    encoding: options.Encoding = None,
    max_bytes: options.MaxBytes = None,
    examples: options.Examples = None,
    prompt: options.Prompt = None,
    system: options.System = None,
    model: options.Model = None,
    device: options.Device = None,
    dtype: options.Dtype = None,
    device_map: options.DeviceMap = None,
    trust_remote_code: options.TrustRemoteCode = False,
    batch_size: options.BatchSize = None,
    max_new_tokens: options.MaxNewTokens = None,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    min_p: options.MinP = None,
    seed: options.Seed = None,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    bare: options.Bare = False,
    quiet: options.Quiet = False,
) -> None:
    """Turn documents into records, one a document, in the order of the inputs.

    Give exactly one of --schema, --regex, --grammar, --tags, --tools, --choices and --choices-file,
    or --schema-field where each row brings a schema.
    """
    from pipelines.config import ExtractConfig
    from pipelines.extract import extract as run

    config = build(ExtractConfig, ctx.params | {"choices": split_labels(choices)})
    execute(run, config, output=config.output.path, quiet=quiet)
