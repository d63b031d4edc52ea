"""How well the bundled model does on the golden sets, through the pipelines as users run them.

    python -m tests.bench.golden [--documents N] [--only references|tickets] [--data FOLDER]

References: `extract` with three examples in the prompt (left out of the scores), micro F1 over
fields. Tickets: `classify`, accuracy with and without the correction by an empty message, beside
always saying the most frequent label. Exits with 1 when a figure is below its goal.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.classify import classify
from pipelines.config import ClassifyConfig, ExtractConfig
from pipelines.extract import extract
from pipelines.observer import NullObserver
from tests.bench.scoring import accuracy, count_fields, majority, micro

__all__ = ["main"]

_DATA = Path("../shared/data/golden")
_EXAMPLES = 3
_F1_GOAL = 0.50
_ACCURACY_GOAL = 0.60


@dataclass(frozen=True)
class Result:
    """One line of the table; `goal` is None for a figure that is only reported."""

    name: str
    figure: float
    goal: float | None
    note: str = ""

    def __str__(self) -> str:
        """Return the line."""
        verdict = "" if self.goal is None else f"(goal {self.goal:.2f})"
        return f"{self.name:<48}{self.figure:>7.3f}  {verdict:<12}  {self.note}"


def main(arguments: list[str] | None = None) -> int:
    """Print the table and return the exit code."""
    options = _parser().parse_args(arguments)
    results: list[Result] = []
    if options.only in (None, "references"):
        results += _references(options.data / "references-anystyle", options.documents)
    if options.only in (None, "tickets"):
        results += _tickets(options.data / "tickets-banking77", options.documents)
    print(*results, sep="\n")
    return int(any(r.goal is not None and r.figure < r.goal for r in results))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, help="only the first N scored documents of a set")
    parser.add_argument("--only", choices=["references", "tickets"])
    parser.add_argument("--data", type=Path, default=_DATA)
    return parser


def _references(folder: Path, limit: int | None) -> list[Result]:
    golden = _rows(folder / "golden.jsonl")
    last = None if limit is None else _EXAMPLES + limit
    records, seconds = _run(extract, _extraction, folder, last)
    scored = list(golden)[_EXAMPLES:last]
    total, fields = micro(
        count_fields(records[i]["value"], golden[i]["record"], golden[i].get("alt", {}))
        for i in scored
    )
    ok = sum(records[i]["status"] == "ok" for i in scored)
    note = f"{len(scored)} documents, {ok} ok, {seconds:.0f} s"
    name = f"references, {_EXAMPLES} examples: micro F1"
    single = [Result(f"  {field}", counts.f1, None) for field, counts in fields.items()]
    return [Result(name, total.f1, _F1_GOAL, note), *single]


def _tickets(folder: Path, limit: int | None) -> list[Result]:
    golden = {i: row["record"]["intent"] for i, row in _rows(folder / "golden.jsonl").items()}
    records, seconds = _run(classify, _classification, folder, limit)
    scored = list(golden)[:limit]
    wanted = [golden[i] for i in scored]
    corrected = [records[i]["value"] for i in scored]
    raw = [_best(records[i]["meta"]["scores"]) for i in scored]
    note = f"{len(scored)} documents, {seconds:.0f} s"
    return [
        Result("tickets, corrected: accuracy", accuracy(corrected, wanted), _ACCURACY_GOAL, note),
        Result("tickets, not corrected: accuracy", accuracy(raw, wanted), None),
        Result("tickets, always the most frequent: accuracy", majority(wanted), None),
    ]


def _extraction(folder: Path, documents: Path, output: Path) -> ExtractConfig:
    return ExtractConfig.model_validate(
        {
            "inputs": {"paths": [str(documents)]},
            "constraint": {"schema": str(folder / "schema.json")},
            "prompt": {"examples": f"{folder / 'golden.jsonl'}:{_EXAMPLES}"},
            "output": {"path": str(output)},
        }
    )


def _classification(folder: Path, documents: Path, output: Path) -> ClassifyConfig:
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    return ClassifyConfig.model_validate(
        {
            "inputs": {"paths": [str(documents)]},
            "labels": {"choices": schema["properties"]["intent"]["enum"], "scores": True},
            "output": {"path": str(output)},
        }
    )


def _run(task: Any, configure: Any, folder: Path, limit: int | None) -> tuple[Any, float]:
    """Run a pipeline over the first `limit` documents; return records by id, and seconds."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        documents, output = Path(place) / "docs.jsonl", Path(place) / "out.jsonl"
        rows = list(_rows(folder / "docs.jsonl").values())[:limit]
        documents.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        task(configure(folder, documents, output), NullObserver())
        return _rows(output), time.perf_counter() - started


def _rows(path: Path) -> dict[str, Any]:
    lines: Iterable[str] = path.read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def _best(scores: dict[str, float]) -> str:
    return max(scores, key=scores.__getitem__)


if __name__ == "__main__":
    sys.exit(main())
