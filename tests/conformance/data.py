"""Where the shared data lies, and a skip with a reason where it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
HERE = Path(__file__).parent


def shared(name: str) -> Path:
    """Return a file of the shared data; skips the whole module where it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"no {path}", allow_module_level=True)
    return path


def ratchet(name: str) -> dict[str, Any]:
    """Read an expectation file that stands beside the tests."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def check_ratchet(name: str, found: dict[str, Any], better: set[str]) -> None:
    """Compare outcomes with the kept ones: worse fails, better asks for an update.

    `better` holds the outcomes that may replace any other. To renew the file, delete it, run the
    tests, and read the difference before committing it.
    """
    path = HERE / name
    if not path.exists():
        path.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        pytest.skip(f"{name} written afresh; read it, then commit it")
    kept = ratchet(name)
    changed = {key: (kept.get(key), got) for key, got in found.items() if kept.get(key) != got}
    worse = {key: pair for key, pair in changed.items() if pair[1] not in better}
    assert not worse, f"worse than {name}: {worse}"
    assert not changed, f"better than {name}, delete it and run again to renew it: {changed}"
