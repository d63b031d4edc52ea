"""The JSON Schema test suite, required cases of drafts 4 to 2020-12.

A schema compiles or is refused. When it compiles, every valid instance is possible (its keys in
some order, since ours is fixed) and no invalid one is. Kept per file: how many instances are
judged right, refused with their schema, and wrongly impossible.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.conformance.data import Trial, check_ratchet, shared

_DATA = shared("json-schema-test-suite.tar.gz")
DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
Counts = dict[str, int]


@cache
def _files() -> dict[str, Any]:
    """Return the test groups by `draft/file.json`."""
    found = {}
    with tarfile.open(_DATA) as archive:
        for member in archive:
            path = member.name.removeprefix("./").split("/")
            if (
                len(path) == 3
                and path[0] == "tests"
                and path[1] in DRAFTS
                and path[2].endswith(".json")
            ):
                content = archive.extractfile(member)
                assert content is not None
                found[f"{path[1]}/{path[2]}"] = json.load(content)
    return found


def _in_draft(schema: Any, draft: str) -> Any:
    named = isinstance(schema, bool) or "$schema" in schema
    return schema if named else {"$schema": DRAFTS[draft], **schema}


def _verdicts(groups: Any, draft: str) -> Iterator[tuple[str, str]]:
    """Yield (outcome, what) of each instance."""
    for group in groups:
        trial = Trial(_in_draft(group["schema"], draft))
        for test in group["tests"]:
            what = f"{group['description']}: {test['description']}"
            if trial.is_unsatisfiable and not test["valid"]:
                yield "right", what
            elif trial.refusal:
                yield "refused", what
            elif trial.accepts_some_order(test["data"]) == test["valid"]:
                yield "right", what
            else:
                yield "too strict" if test["valid"] else "too loose", what


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_official_suite_is_never_too_loose_and_never_gets_worse(draft):
    found: dict[str, Counts] = {}
    loose = []
    for name, groups in _files().items():
        if not name.startswith(draft + "/"):
            continue
        counts = found[name] = {"right": 0, "refused": 0, "too strict": 0, "too loose": 0}
        for outcome, what in _verdicts(groups, draft):
            counts[outcome] += 1
            if outcome == "too loose":
                loose.append(f"{name}: {what}")
    assert len(found) > 20
    assert loose == []
    check_ratchet(f"{draft}.json", found, lambda kept, got: got["right"] > kept["right"])
