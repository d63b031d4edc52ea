"""Function calls under a schema for each row, judged by a validator of its own.

    python -m tests.bench.calls [--documents N] [--data FOLDER]

Runs `extract --schema-field` with the bundled model over a set of rows with `text` and `schema`,
and checks every record of status `ok` with jsonschema against the schema of its row. Prints the
counts; exits with 1 when a record is not valid, is not in its place, or is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsonschema import FormatChecker
from jsonschema.validators import validator_for

from pipelines.config import ExtractConfig
from pipelines.extract import extract
from pipelines.observer import NullObserver

__all__ = ["main"]

_DATA = Path("../shared/data/golden/calls-bfcl")


def main(arguments: list[str] | None = None) -> int:
    """Print the counts and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, help="only the first N rows")
    parser.add_argument("--data", type=Path, default=_DATA)
    options = parser.parse_args(arguments)
    lines = (options.data / "docs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[: options.documents]]
    started = time.perf_counter()
    records = _records(rows)
    counts = Counter(record["status"] for record in records)
    counts["not valid"] = sum(not _is_valid(*pair) for pair in zip(rows, records, strict=False))
    counts["out of place"] = int([r["id"] for r in records] != [row["id"] for row in rows])
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"{len(rows)} rows in {time.perf_counter() - started:.0f} s: {told}")
    reasons = Counter(error["reason"] for r in records for error in r.get("errors", ()))
    print(*(f"{count:5} {reason}" for reason, count in reasons.most_common()), sep="\n")
    return int(bool(counts["not valid"] or counts["out of place"]))


def _records(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        documents, output = Path(folder) / "docs.jsonl", Path(folder) / "out.jsonl"
        documents.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        config = {
            "inputs": {"paths": [str(documents)]},
            "constraint": {"schema_field": "schema"},
            "decoding": {"max_new_tokens": 256},
            "output": {"path": str(output)},
        }
        extract(ExtractConfig.model_validate(config), NullObserver())
        return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def _is_valid(row: dict[str, Any], record: dict[str, Any]) -> bool:
    """Return whether a record that says it is ok satisfies the schema of its row."""
    kind = validator_for(row["schema"])
    validator = kind(row["schema"], format_checker=FormatChecker())
    return record["status"] != "ok" or validator.is_valid(record["value"])


if __name__ == "__main__":
    sys.exit(main())
