"""`constrain cache`: what is kept on disk between runs, and how to be rid of it.

The cache holds folders of entries: converted models, compiled constraints and kernels. An entry
is one file or folder; every one of them can be made again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app", "directory", "list_entries", "prune"]

app = typer.Typer(help="Show and empty the cache.", no_args_is_help=True)


@dataclass(frozen=True)
class Entry:
    """One thing in the cache. `size` in bytes, `unused` in seconds since it was written."""

    path: Path
    kind: str
    size: int
    unused: float


@app.command("dir")
def directory() -> None:
    """Print the folder of the cache."""
    from constrain.paths import cache_dir

    typer.echo(cache_dir())


@app.command("ls")
def list_entries() -> None:
    """List what the cache holds: kind, size, age, name."""
    from cli.sizes import age, size
    from cli.tables import show_rows

    rows = [(e.kind, size(e.size), age(e.unused), e.path.name) for e in _entries()]
    show_rows(("kind", "size", "age", "name"), rows, empty="the cache is empty")


@app.command()
def prune(
    days: Annotated[
        float,
        typer.Option(
            min=0,
            envvar="CONSTRAIN_PRUNE_DAYS",
            show_envvar=False,
            metavar="DAYS",
            help="Remove what is older; 0 removes all.",
        ),
    ] = 30,
    models: Annotated[
        bool,
        typer.Option(
            "--models",
            envvar="CONSTRAIN_PRUNE_MODELS",
            show_envvar=False,
            metavar="",
            help="Remove converted models too.",
        ),
    ] = False,
) -> None:
    """Remove old compiled constraints and kernels, and with --models old models."""
    from cli.sizes import size

    old = [e for e in _entries() if e.unused >= days * 86_400 and (models or e.kind != "models")]
    for entry in old:
        if entry.path.is_dir():
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            entry.path.unlink(missing_ok=True)
    total = size(sum(entry.size for entry in old))
    typer.echo(f"removed {len(old)} of the cache's entries ({total})", err=True)


def _entries() -> Iterator[Entry]:
    """Yield all entries, by kind and name; leaves out what is being written just now."""
    from constrain.paths import cache_dir

    now = time.time()
    for kind in sorted(cache_dir().glob("*")):
        for path in sorted(kind.glob("*/*" if kind.name == "constraints" else "*")):
            if path.name.startswith(".") or path.suffix == ".tmp":
                continue
            files = [file.stat() for file in (path, *path.rglob("*")) if file.is_file()]
            written = max((stat.st_mtime for stat in files), default=now)
            yield Entry(path, kind.name, sum(stat.st_size for stat in files), now - written)
