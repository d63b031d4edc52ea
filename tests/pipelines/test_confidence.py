"""Tests of pipelines.confidence."""

from __future__ import annotations

import pytest

from pipelines.confidence import Confidence, field_confidence

__all__: list[str] = []


def test_a_field_has_the_mean_of_the_tokens_that_touch_its_value() -> None:
    pieces = ['{"', "a", '": ', "12", '3, "b', '": "', "x", '"}']
    logprobs = [0, 0, 0, -1, -2, -4, -8, -16]
    pressures = [0, 0, 0, 0.5, 0.1, 0.2, 0.3, 0.4]
    data = "".join(pieces).encode()
    found = field_confidence(data, [len(p) for p in pieces], logprobs, pressures)
    assert found == {
        "a": Confidence(-1.5, pytest.approx(0.3)),  # "12" and the token that holds the 3
        "b": Confidence(pytest.approx(-28 / 3), pytest.approx(0.3)),
    }


def test_elements_of_arrays_count_under_one_name() -> None:
    pieces = ['{"n": [', "1", ", ", "2", "]}"]
    found = field_confidence(b'{"n": [1, 2]}', [7, 1, 2, 1, 2], [0, -1, 0, -3, 0], [0] * 5)
    assert "".join(pieces) == '{"n": [1, 2]}'
    assert found["n[]"].logprob == -2
    assert set(found) == {"n", "n[]"}


def test_characters_of_many_bytes_shift_nothing() -> None:
    data = '{"é": "日", "b": 1}'.encode()
    tokens = [data[:5], data[5:11], data[11:-2], data[-2:-1], data[-1:]]
    figures = [0.0, -2.0, 0.0, -5.0, 0.0]
    found = field_confidence(data, [len(t) for t in tokens], figures, [0.0] * 5)
    assert found["b"].logprob == -5
