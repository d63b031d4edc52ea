"""A fixed sample of the MaskBench schemas, with the outcome of each that does not pass.

The whole set is measured by `maskbench.py --engine tests.bench.adapter:Adapter --mode accept`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import Any

from tests.conformance.data import Trial, check_ratchet, shared

SAMPLE = 300
_DATA = shared("maskbench-dev.jsonl.gz")
_RANK = {"pass": 2, "refused": 1, "too strict": 1}


def _sample() -> list[dict[str, Any]]:
    with gzip.open(_DATA, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return sorted(rows, key=lambda row: hashlib.sha256(row["name"].encode()).digest())[:SAMPLE]


def _outcome(row: dict[str, Any]) -> str:
    trial = Trial(row["schema"])
    if trial.refusal:
        return "refused"
    verdicts = [
        (trial.accepts(json.dumps(test["data"], ensure_ascii=False)), test["valid"])
        for test in row["tests"]
    ]
    if (True, False) in verdicts:
        return "too loose"
    return "too strict" if (False, True) in verdicts else "pass"


def test_no_schema_of_the_sample_is_too_loose_and_none_gets_worse():
    found = {row["name"]: _outcome(row) for row in _sample()}
    assert [name for name, outcome in found.items() if outcome == "too loose"] == []
    check_ratchet(
        "maskbench.json",
        {name: outcome for name, outcome in found.items() if outcome != "pass"},
        lambda kept, got: _RANK[got or "pass"] > _RANK[kept or "pass"],
    )
