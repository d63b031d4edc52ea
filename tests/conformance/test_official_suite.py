"""The official suite: never too loose, and what is kept per file never gets worse.

`python -m tests.conformance` prints the summary.
"""

from __future__ import annotations

import pytest

from tests.conformance.data import check_ratchet
from tests.conformance.suite import DRAFTS, verdicts

Counts = dict[str, int]


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_official_suite_is_never_too_loose_and_never_gets_worse(draft: str) -> None:
    found: dict[str, Counts] = {}
    loose = []
    for verdict in verdicts(draft):
        none = {"right": 0, "refused": 0, "too strict": 0, "too loose": 0}
        counts = found.setdefault(f"{draft}/{verdict.file}", none)
        counts[verdict.outcome] += 1
        if verdict.outcome == "too loose":
            loose.append(f"{verdict.file}: {verdict.what}")
    assert len(found) > 20
    assert loose == []
    check_ratchet(f"{draft}.json", found, lambda kept, got: got["right"] > kept["right"])
