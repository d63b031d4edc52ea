from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.sizes import age, rate, size

__all__: list[str] = []


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path / "cache"))
    for name, days in {"models/big": 90, "constraints/ab/old": 40, "constraints/ab/new": 1}.items():
        entry = tmp_path / "cache" / name
        data = entry / "data" if name.startswith("models") else entry
        data.parent.mkdir(parents=True, exist_ok=True)
        data.write_bytes(b"x" * 1500)
        then = time.time() - days * 86_400
        os.utime(data, (then, then))
    return tmp_path / "cache"


def call(*arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(app, ["cache", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def kept(cache: Path) -> set[str]:
    return {path.name for path in (*cache.glob("models/*"), *cache.glob("constraints/*/*"))}


def test_dir_prints_the_folder(cache: Path) -> None:
    assert call("dir") == (f"{cache}\n", "")


def test_ls_shows_kind_size_and_age_of_each_entry(cache: Path) -> None:
    lines = call("ls")[0].splitlines()
    assert len(lines) == 1 + len(kept(cache))
    assert lines[1].split() == ["constraints", "1.5", "kB", "1", "day", "new"]


def test_ls_of_an_empty_cache_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(cache / "none"))
    assert call("ls") == ("", "the cache is empty\n")


def test_prune_removes_old_constraints_and_keeps_models(cache: Path) -> None:
    assert call("prune")[1] == "removed 1 of the cache's entries (1.5 kB)\n"
    assert kept(cache) == {"big", "new"}


def test_prune_removes_models_when_told(cache: Path) -> None:
    call("prune", "--days", "0", "--models")
    assert kept(cache) == set()


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (269_060_552, "269 MB")]
)
def test_sizes_are_short(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "now"), (125, "2 min"), (3600, "1 hour"), (200_000, "2 days")]
)
def test_ages_have_one_unit(seconds: int, text: str) -> None:
    assert age(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(1, "0.05"), (42, "2.1"), (2000, "100"), (0, "0.00")])
def test_a_slow_rate_keeps_its_digits(count: int, text: str) -> None:
    assert rate(count, 20.0) == text
