"""All checks of the project: `python -m tests`. Fails when one fails; ends with pytest's own line.

Runs each check in its own process from the root of the project, all of them whatever fails.
Arguments go to pytest: `python -m tests -k stats`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports",),
    ("pytest",),
)


def main(arguments: list[str]) -> int:
    """Run every check; return 0 when all pass, else 1."""
    failed = [check for check in CHECKS if _run(check, arguments) != 0]
    for check in failed:
        print(f"failed: {' '.join(check)}", file=sys.stderr)
    return 1 if failed else 0


def _run(check: tuple[str, ...], arguments: list[str]) -> int:
    print(f"== {' '.join(check)}", flush=True)
    command = [sys.executable, "-m", *check]
    if check == ("lint-imports",):  # a script, no module
        command = [str(Path(sys.executable).with_name("lint-imports"))]
    if check == ("pytest",):
        command += arguments
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
