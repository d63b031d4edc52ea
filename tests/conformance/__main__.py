"""`python -m tests.conformance`: the summary of the official suite, by draft and by kind."""

from __future__ import annotations

from collections import Counter

from tests.conformance.suite import DRAFTS, verdicts


def main() -> None:
    """Print how many instances are judged right, and why the others are not."""
    kinds: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    print(f"{'draft':<14}{'instances':>10}{'valid':>8}{'accepted':>10}{'too loose':>11}")
    for draft in DRAFTS:
        found = list(verdicts(draft))
        counts = Counter(
            instances=len(found),
            valid=sum(v.valid for v in found),
            accepted=sum(v.valid and v.outcome == "right" for v in found),
            loose=sum(v.outcome == "too loose" for v in found),
        )
        total += counts
        kinds.update((v.outcome, v.kind) for v in found if v.outcome != "right")
        _print_row(draft, counts)
    _print_row("all", total)
    print(f"\n{total['accepted'] / total['valid']:.2%} of the valid instances are accepted.\n")
    for (outcome, kind), count in kinds.most_common():
        print(f"{count:>5}  {outcome:<11} {kind}")


def _print_row(name: str, counts: Counter[str]) -> None:
    row = (counts["instances"], counts["valid"], counts["accepted"], counts["loose"])
    print("{:<14}{:>10}{:>8}{:>10}{:>11}".format(name, *row))


if __name__ == "__main__":
    main()
