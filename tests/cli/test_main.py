from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from pipelines.config import ExtractConfig
from pipelines.errors import ConfigError
from pipelines.observer import Observer
from pipelines.summary import RunSummary
from tests.cli.fakes import run_summary

__all__: list[str] = []

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"torch", "transformers", "pyarrow", "pydantic", "jsonschema", "numba", "jinja2"}
TYPERS_OWN = {"pydantic"}  # Typer reads the flags of a command with it
Runner = Callable[[ExtractConfig, Observer], RunSummary]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CONSTRAIN_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[ExtractConfig]:
    configs: list[ExtractConfig] = []

    def extract(config: ExtractConfig, observer: Observer) -> RunSummary:
        observer.started(10)
        configs.append(config)
        return run_summary()

    monkeypatch.setattr("pipelines.extract.extract", extract)
    return configs


def call(*arguments: str, code: int = 0, **more: Any) -> Any:
    result = CliRunner().invoke(app, list(arguments), **more)
    assert result.exit_code == code, result.output
    return result


def loaded_by(statement: str) -> set[str]:
    """Return which heavy packages are loaded after `statement`, in a process of its own."""
    script = f"import sys, json\n{statement}\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return HEAVY & set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [(["--help"], set()), (["--version"], set()), (["extract", "--help"], TYPERS_OWN)],
)
def test_help_loads_nothing_heavy(arguments: list[str], allowed: set[str]) -> None:
    statement = f"""
from typer.testing import CliRunner
from cli.main import app
assert CliRunner().invoke(app, {arguments!r}).exit_code == 0
"""
    assert loaded_by(statement) <= allowed


def test_importing_the_engine_leaves_torch_unloaded() -> None:
    assert not loaded_by("import constrain") & {"torch", "transformers", "pyarrow", "pydantic"}


def test_flags_reach_the_pipeline(seen: list[ExtractConfig]) -> None:
    call("extract", "a.txt", "b.txt", "--schema", "{}", "--keep", "x", "--keep", "y", "-b", "3")
    assert seen[0].inputs.paths == ("a.txt", "b.txt")
    assert seen[0].inputs.keep == ("x", "y")
    assert seen[0].decoding.batch_size == 3


def test_choices_are_split_at_commas(seen: list[ExtractConfig]) -> None:
    call("extract", "-", "--choices", "yes, no")
    assert seen[0].constraint.choices == ("yes", "no")


def test_a_flag_beats_the_environment_which_beats_the_file(seen: list[ExtractConfig]) -> None:
    Path("constrain.toml").write_text('seed = 1\nmodel = "file"\n[extract]\ntop-k = 1\n', "utf-8")
    environment = {"CONSTRAIN_MODEL": "environment", "CONSTRAIN_TOP_K": "2"}
    call("extract", "a.txt", "--schema", "{}", "--top-k", "3", env=environment)
    assert (seen[0].decoding.seed, seen[0].model.name, seen[0].decoding.top_k) == (
        1,
        "environment",
        3,
    )


def test_the_file_may_be_named(seen: list[ExtractConfig]) -> None:
    Path("other.toml").write_text("bare = true\nkeep = ['a', 'b']\n", "utf-8")
    call("--config", "other.toml", "extract", "a.txt", "--schema", "{}")
    assert seen[0].output.bare
    assert seen[0].inputs.keep == ("a", "b")


def test_an_unknown_flag_in_the_file_is_a_usage_error(seen: list[ExtractConfig]) -> None:
    Path("constrain.toml").write_text("sede = 1", "utf-8")
    assert "no flag is called 'sede'" in call("extract", "a", "--schema", "{}", code=2).output
    assert not seen


@pytest.mark.parametrize(
    ("changes", "code"), [({}, 0), ({"ok": 9, "invalid": 1}, 3), ({"ok": 9, "error": 1}, 3)]
)
def test_the_exit_code_tells_of_bad_documents(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, int], code: int
) -> None:
    monkeypatch.setattr("pipelines.extract.extract", lambda *_: run_summary(**changes))
    call("extract", "a.txt", "--schema", "{}", code=code)


def test_the_table_goes_to_stderr_and_quiet_silences_it(seen: list[ExtractConfig]) -> None:
    result = call("extract", "a.txt", "--schema", "{}")
    assert (result.stdout, "10 documents: 10 ok" in result.stderr) == ("", True)
    assert call("extract", "a.txt", "--schema", "{}", "--quiet").output == ""
    assert len(seen) == 2


def test_two_constraints_are_a_usage_error() -> None:
    output = call("extract", "a.txt", "--schema", "{}", "--regex", "a", code=2).output
    assert "give exactly one of schema, regex, grammar" in output


def test_a_mistyped_flag_is_a_usage_error() -> None:
    assert "No such option" in call("extract", "a.txt", "--shema", "{}", code=2).output


def test_an_error_of_the_pipeline_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> RunSummary:
        raise ConfigError("is no schema", place="--schema", remedy="give a file")

    monkeypatch.setattr("pipelines.extract.extract", fail)
    result = call("extract", "a.txt", "--schema", "{}", code=2)
    assert result.output == "constrain: --schema: is no schema; give a file\n"


SLOW_RUN = """
import sys, time
import pipelines.extract
def slow(config, observer):
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        print("cleaned up", flush=True)
        time.sleep(float({linger}))
pipelines.extract.extract = slow
from cli.main import app
app(["extract", "a.txt", "--schema", "{{}}"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(("linger", "signals", "code"), [(0, 1, 75), (60, 2, 130)])
def test_the_first_ctrl_c_stops_in_order_and_the_second_at_once(
    linger: int, signals: int, code: int
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_RUN.format(linger=linger)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for expected in ["ready", "cleaned up"][:signals]:
        assert process.stdout.readline().strip() == expected
        process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == code
    assert "Traceback" not in stderr
