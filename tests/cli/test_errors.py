from __future__ import annotations

import os
import signal

import pytest
import typer

from cli.errors import ExitCode, reported
from constrain.errors import LimitExceeded, ModelError, SchemaError, UnknownModel
from pipelines.errors import ConfigError, InputError, OutputError, OutputExistsError

__all__: list[str] = []


def code_of(error: BaseException) -> int:
    with pytest.raises(typer.Exit) as caught, reported(debug=False):
        raise error
    return int(caught.value.exit_code)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), ExitCode.USAGE),
        (InputError("x"), ExitCode.USAGE),
        (OutputExistsError("x"), ExitCode.USAGE),
        (SchemaError("x", pointer="/a"), ExitCode.USAGE),
        (LimitExceeded("states", given=2, allowed=1), ExitCode.USAGE),
        (OutputError("x"), ExitCode.FAILED),
        (ModelError("x"), ExitCode.FAILED),
        (UnknownModel("x"), ExitCode.USAGE),
        (ValueError("x"), ExitCode.FAILED),
        (KeyboardInterrupt(), ExitCode.STOPPED),
    ],
)
def test_every_error_has_its_exit_code(error: BaseException, code: int) -> None:
    assert code_of(error) == code


def test_the_message_is_the_error_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code_of(SchemaError("'type' is no type", pointer="/a", remedy="correct it"))
    assert capsys.readouterr().err == "constrain: at #/a: 'type' is no type; correct it\n"


def test_notes_of_an_error_are_shown_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    error = OutputError("disk full")
    error.add_note("12 records are kept in out.jsonl.partial")
    code_of(error)
    kept = "12 records are kept in out.jsonl.partial"
    assert capsys.readouterr().err == f"constrain: disk full\n{kept}\n"


def test_an_unexpected_error_is_one_line_with_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    code_of(ValueError("first\nsecond"))
    expected = "constrain: unexpected ValueError: first; constrain --debug shows where\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("error", [ValueError("x"), ConfigError("x")])
def test_debug_lets_the_error_through(error: Exception) -> None:
    with pytest.raises(type(error)), reported(debug=True):
        raise error


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_with_75(sign: signal.Signals) -> None:
    with pytest.raises(typer.Exit) as caught, reported(debug=False):
        os.kill(os.getpid(), sign)
    assert caught.value.exit_code == ExitCode.STOPPED


def test_handlers_of_signals_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with reported(debug=False):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_exit_and_abort_pass_through() -> None:
    with pytest.raises(typer.Exit) as caught, reported(debug=False):
        raise typer.Exit(3)
    assert caught.value.exit_code == 3
