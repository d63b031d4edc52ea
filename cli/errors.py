"""From an exception to one clear message on stderr and an exit code.

0  every document is ok
1  the run failed
2  usage, config or schema error
3  finished, but some documents failed or are invalid
75 stopped by a signal
130 stopped at once by a second Ctrl-C
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import NoReturn

import typer

from cli.settings import SettingsError
from constrain.errors import ConstrainError, ConstraintError, LimitExceeded, UnknownModel

__all__ = ["ExitCode", "reported"]


class ExitCode(IntEnum):
    """What the process tells its caller."""

    OK = 0
    FAILED = 1
    USAGE = 2
    SOME_BAD = 3
    STOPPED = 75
    INTERRUPTED = 130


@contextmanager
def reported(*, debug: bool) -> Iterator[None]:
    """Turn errors of the block into a message and `typer.Exit`; with `debug`, let them through.

    The first SIGINT or SIGTERM ends the block in order, a second one the process.
    """
    previous = {sign: signal.signal(sign, _stop) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt as error:
        _fail("stopped by a signal", error, ExitCode.STOPPED)
    except ConstrainError as error:
        if debug:
            raise
        _fail(str(error), error, _code_of(error))
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if debug or _is_usage_error(error):
            raise
        fact = f"unexpected {type(error).__name__}: {_first_line(error)}"
        _fail(f"{fact}; constrain --debug shows where", error, ExitCode.FAILED)
    finally:
        for sign, handler in previous.items():
            signal.signal(sign, handler)


def _code_of(error: ConstrainError) -> ExitCode:
    from pipelines.errors import ConfigError, InputError, OutputExistsError

    usage = (ConstraintError, LimitExceeded, SettingsError, UnknownModel)
    usage += (ConfigError, InputError, OutputExistsError)  # type: ignore[assignment]
    return ExitCode.USAGE if isinstance(error, usage) else ExitCode.FAILED


def _is_usage_error(error: Exception) -> bool:
    """Whether Typer itself will print this error (its classes are private to it)."""
    return hasattr(error, "show") and hasattr(error, "exit_code")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "no message")


def _fail(message: str, error: BaseException, code: ExitCode) -> NoReturn:
    """Write the message, and below it what others noted at the error on its way up."""
    lines = [f"constrain: {message}", *getattr(error, "__notes__", ())]
    sys.stderr.write("\n".join(lines) + "\n")
    raise typer.Exit(code)


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGINT, _stop_at_once)
    signal.signal(signal.SIGTERM, _stop_at_once)
    raise KeyboardInterrupt


def _stop_at_once(_signal: int, _frame: FrameType | None) -> NoReturn:
    os._exit(ExitCode.INTERRUPTED)
