"""The parts of README.md that are made from the code: `python -m tests.readme_tables --write`.

Each stands between `<!-- NAME -->` and `<!-- /NAME -->`. A test compares them with the code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path

from constrain.schema.formats import FORMATS
from constrain.schema.keywords import KEYWORDS

__all__ = ["README", "TABLES", "formats", "keywords", "written"]

README = Path(__file__).resolve().parents[1] / "README.md"


def keywords() -> str:
    """Return the table of keywords; neighbours that have the same answer share a row."""
    lines = ["| keywords | answer | note |", "|---|---|---|"]
    for (answer, note), rows in groupby(KEYWORDS.values(), lambda row: (row.answer, row.note)):
        names = " ".join(f"`{row.name}`" for row in rows)
        lines.append(f"| {names} | {answer} | {note} |")
    return "\n".join(lines)


def formats() -> str:
    """Return the formats that are asserted, in one line."""
    return ", ".join(f"`{name}`" for name in sorted(FORMATS))


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\")


TABLES: Mapping[str, Callable[[], str]] = {"keywords": keywords, "formats": formats}


def written(text: str) -> str:
    """Return `text` with every made part as the code has it now."""
    for name, make in TABLES.items():
        part = re.compile(f"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
        text = part.sub(rf"\g<1>{_escaped(make())}\g<2>", text)
    return text


if __name__ == "__main__":
    current = README.read_text("utf-8")
    if "--write" in sys.argv[1:]:
        README.write_text(written(current), "utf-8")
    else:
        sys.stdout.write(written(current))
