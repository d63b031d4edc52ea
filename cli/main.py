"""The Typer application: its commands, the flags before them, and the entry point `run`.

Importing it loads no torch, transformers, pyarrow, pydantic or jsonschema: a command imports
what it needs when it runs, so that help comes at once.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli import cache, classify, extract, model, stats
from cli.errors import reported
from cli.settings import default_map, read_settings
from constrain import __version__

__all__ = ["app", "main", "run"]

DEFAULT_SETTINGS = Path("constrain.toml")


class Commands(TyperGroup):
    """The group of all commands; the one place where errors become messages and exit codes."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command; raise `typer.Exit` with a code of `cli.errors`."""
        with reported(debug=ctx.params["debug"]):
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"constrain {__version__}")
        raise typer.Exit


@app.callback()
def main(
    ctx: typer.Context,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            envvar="CONSTRAIN_CONFIG",
            show_envvar=False,
            metavar="FILE",
            help="TOML file of flags (default constrain.toml, where there is one).",
        ),
    ] = None,
    debug: Annotated[  # read by Commands.invoke
        bool,
        typer.Option(
            "--debug",
            envvar="CONSTRAIN_DEBUG",
            show_envvar=False,
            metavar="",
            help="Show tracebacks.",
        ),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, metavar="", help="Show the version."
        ),
    ] = False,
) -> None:
    """Documents in, records out that cannot fail to parse.

    Every flag of a command can also stand in the environment, --top-k as
    CONSTRAIN_TOP_K, or in the file constrain.toml, as top-k. A flag beats the
    environment, which beats the file.
    """
    path = config or DEFAULT_SETTINGS
    if config is not None or path.exists():
        commands: dict[str, Any] = getattr(ctx.command, "commands", {})
        names = {
            name: {parameter.name for parameter in command.params}
            for name, command in commands.items()
            if not hasattr(command, "commands")
        }
        ctx.default_map = default_map(read_settings(path), names, str(path))


app.command()(extract.extract)
app.command()(classify.classify)
app.command()(stats.stats)
app.add_typer(model.app, name="model")
app.add_typer(cache.app, name="cache")


def run() -> None:
    """Run the command line; ends the process."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    app()
