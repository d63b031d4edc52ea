"""The Python of the README runs as it stands, from top to bottom."""

from __future__ import annotations

import re

import pytest

import constrain
from tests.readme_tables import README


@pytest.mark.model
def test_the_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(blocks) > 1
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    first, answer = capsys.readouterr().out.split()
    assert first == "True"
    assert answer in {"yes", "no"}


def test_every_public_name_is_in_the_readme() -> None:
    text = README.read_text("utf-8")
    assert not [n for n in constrain.__all__ if n != "__version__" and f"`{n}`" not in text]
