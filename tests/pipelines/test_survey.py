"""Tests of pipelines.survey."""

from __future__ import annotations

import pytest

from pipelines.documents import Origin
from pipelines.errors import InputError
from pipelines.survey import survey

__all__: list[str] = []


def test_documents_are_counted() -> None:
    assert survey(lambda: (Origin(str(n), f"line {n}") for n in range(1000))) == 1000


def test_an_id_that_comes_twice_is_refused_with_both_places() -> None:
    origins = [Origin("a", "f, line 1"), Origin("b", "f, line 2"), Origin("a", "g, line 7")]
    with pytest.raises(InputError, match="the id 'a' comes twice: f, line 1 and g, line 7"):
        survey(lambda: iter(origins))


def test_ids_with_one_hash_are_still_two_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.survey._hash", lambda _id: 7)
    assert survey(lambda: iter([Origin("a", "1"), Origin("b", "2")])) == 2
