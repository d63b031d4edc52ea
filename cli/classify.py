"""`constrain classify`: documents get one of a few labels, with a probability for each."""

from __future__ import annotations

import typer

from cli import options
from cli.running import execute, split_labels
from cli.settings import build

__all__ = ["classify"]


def classify(
    ctx: typer.Context,
    inputs: options.Inputs,
    *,
    choices: options.Choices = None,
    choices_file: options.ChoicesFile = None,
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
    calibrate: options.Calibrate = True,
    scores: options.Scores = False,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    bare: options.Bare = False,
    quiet: options.Quiet = False,
) -> None:
    """Give every document one of a few labels, with the probability of each label.

    Whole labels are scored, none is generated. Give one of --choices and --choices-file.
    """
    from pipelines.classify import classify as run
    from pipelines.config import ClassifyConfig

    config = build(ClassifyConfig, ctx.params | {"choices": split_labels(choices)})
    execute(run, config, output=config.output.path, quiet=quiet)
