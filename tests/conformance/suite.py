"""The JSON Schema test suite, required cases of drafts 4 to 2020-12, and what becomes of each.

A schema compiles or is refused. When it compiles, every valid instance should be possible (its keys
in some order, since ours is fixed) and no invalid one may be. The documents that the suite serves
for remote references are given along.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from tests.conformance.data import Trial, shared

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
Outcome = Literal["right", "refused", "too strict", "too loose"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one instance: `kind` is why, when it is not right."""

    file: str
    what: str
    valid: bool
    outcome: Outcome
    kind: str = ""


@cache
def _documents() -> dict[str, Any]:
    """Return the JSON files of the suite by path."""
    found = {}
    with tarfile.open(shared("json-schema-test-suite.tar.gz")) as archive:
        for member in archive:
            path = member.name.removeprefix("./")
            if path.endswith(".json") and path.startswith(("tests/", "remotes/")):
                content = archive.extractfile(member)
                assert content is not None
                found[path] = json.load(content)
    return found


@cache
def _remotes() -> dict[str, Any]:
    served = (path for path in _documents() if path.startswith("remotes/"))
    return {
        f"http://localhost:1234/{path.removeprefix('remotes/')}": _documents()[path]
        for path in served
    }


def verdicts(draft: str) -> Iterator[Verdict]:
    """Yield what becomes of each instance of a draft's required cases."""
    for path, groups in _documents().items():
        parts = path.split("/")
        if len(parts) == 3 and parts[0] == "tests" and parts[1] == draft:
            for group in groups:
                yield from _of_group(parts[2], group, draft)


def _of_group(file: str, group: Any, draft: str) -> Iterator[Verdict]:
    trial = Trial(_in_draft(group["schema"], draft), _remotes())
    for test in group["tests"]:
        valid = bool(test["valid"])
        outcome, kind = _judged(trial, test, file)
        yield Verdict(file, f"{group['description']}: {test['description']}", valid, outcome, kind)


def _in_draft(schema: Any, draft: str) -> Any:
    named = isinstance(schema, bool) or "$schema" in schema
    return schema if named else {"$schema": DRAFTS[draft], **schema}


def _judged(trial: Trial, test: Any, file: str) -> tuple[Outcome, str]:
    if trial.is_unsatisfiable and not test["valid"]:
        return "right", ""
    if trial.refusal:
        return "refused", _refusal(trial.refusal)
    if trial.accepts_some_order(test["data"]) == test["valid"]:
        return "right", ""
    return ("too strict", _strictness(file, test["data"])) if test["valid"] else ("too loose", file)


def _refusal(text: str) -> str:
    named = re.search(r"('[^']+') cannot be enforced here: (.*?);", text)
    if named:
        return f"{named[1]}: {re.sub(r'[0-9][0-9.e+-]*', 'N', named[2])}"
    return text.partition(":")[0]


def _strictness(file: str, instance: Any) -> str:
    if file == "format.json":
        return "a format is asserted"
    if file == "vocabulary.json":
        return "a metaschema leaves a vocabulary out"
    if _has_point(instance):
        return "a whole number is written with a point"
    return file


def _has_point(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_point, value))
    return isinstance(value, float) and value.is_integer()
