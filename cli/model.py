"""`constrain model`: which models are here, and how to fetch one."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["app", "list_models", "pull"]

app = typer.Typer(help="List and fetch models.", no_args_is_help=True)


@app.command("ls")
def list_models() -> None:
    """List the models that need no network: name, place, size, path."""
    from cli.sizes import size
    from cli.tables import show_rows
    from constrain.decoding import registry

    found = registry.list_models()
    rows = [(entry.name, entry.place, size(entry.size), str(entry.path)) for entry in found]
    show_rows(("model", "place", "size", "path"), rows, empty="no models here; try: model pull")


@app.command()
def pull(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="Alias, hub id, folder or GGUF.")],
) -> None:
    """Fetch a model, or convert a GGUF file, so that later runs start at once."""
    from constrain.decoding import registry

    typer.echo(registry.pull_model(name))
