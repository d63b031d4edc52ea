from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from cli.progress import BarObserver, LineObserver, Pace, watching
from pipelines.observer import NullObserver

__all__: list[str] = []


def console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None)


def written(target: Console) -> str:
    text: str = target.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_quiet_hears_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(output="-", quiet=True) as observer:
        assert isinstance(observer, NullObserver)
        observer.warned("not shown")
    assert capsys.readouterr() == ("", "")


def test_no_terminal_means_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(output="-", quiet=False) as observer:
        assert isinstance(observer, LineObserver)
        observer.warned("cut to the context [1]")
    assert capsys.readouterr() == ("", "warning: cut to the context [1]\n")


def test_a_line_comes_while_a_document_takes_its_time() -> None:
    target = console(terminal=False)
    with LineObserver(target, 0.01) as observer:
        observer.stage("generating")
        observer.started(4)
        observer.advanced(1, 50)
        while "1 of 4" not in written(target):
            time.sleep(0.01)
    assert "generating:  1 of 4 documents  " in written(target)
    assert "tokens/s" in written(target)


def test_a_stream_of_unknown_length_has_no_time_left() -> None:
    pace = Pace()
    pace.begin(None)
    pace.add(3, 0)
    assert pace.rates().endswith("docs/s")


def test_before_the_first_document_there_is_no_rate() -> None:
    pace = Pace()
    pace.begin(10)
    assert pace.rates() == ""


def test_the_bar_shows_stage_and_count() -> None:
    target = console(terminal=True)
    with BarObserver(target, gives_way=False) as observer:
        observer.stage("generating")
        observer.started(2)
        observer.advanced(2, 10)
    assert "generating" in written(target)
    assert "2/2" in written(target)


def test_a_bar_that_gives_way_draws_nothing_after_the_start() -> None:
    target = console(terminal=True)
    with BarObserver(target, gives_way=True) as observer:
        observer.started(2)
        before = written(target)
        observer.advanced(2, 10)
        assert written(target) == before
