"""Every attack of the suite against a fresh store, and honest evidence beside it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
REFUSED = 1 / 30  # honest controls that may be refused


def main(arguments: list[str]) -> int:
    """Run the suite; the exit code says whether nothing came through and honest evidence counts."""
    parser = argparse.ArgumentParser(prog="python -m bench attacks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT))
    from tests.attacks.suite import attacks, run

    report = run()
    theirs = _seed(attacks())
    met = not report.through and len(report.refused) <= REFUSED * report.honest
    if options.json:
        figures: dict[str, Any] = {
            "cases": report.cases,
            "through": len(report.through),
            "honest": report.honest,
            "honest_refused": len(report.refused),
            "by_class": report.by_class,
        }
        if theirs is not None:
            got, cases = _sums(theirs)
            figures["anneal_memory"] = {"cases": cases, "through": got}
        print(json.dumps(figures))
        return 0 if met else 1
    for kind, counts in report.by_class.items():
        line = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        seed = (theirs or {}).get(kind)
        print(f"  {kind}  {line:40}" + (f"anneal-memory: {sum(seed)} of {len(seed)} through" if seed else ""))
    for attack in report.through:
        print(f"  THROUGH {attack.kind}: {attack.title}")
    for control in report.refused:
        print(f"  REFUSED {control.language}: {control.claim}")
    _told(theirs)
    print(
        f"attacks {report.cases}, through {len(report.through)}; honest {report.honest}, refused {len(report.refused)}"
    )
    return 0 if met else 1


def _seed(attacks: Sequence[Any]) -> dict[str, list[bool]] | None:
    """Play what can be played on anneal-memory, where it is installed: class -> whether each came through."""
    from bench import engines, seed

    if not engines.installed(engines.ANNEAL):
        return None
    found: dict[str, list[bool]] = {}
    for attack in attacks:
        verdict = seed.through(attack)
        if verdict is not None:
            found.setdefault(attack.kind, []).append(verdict)
    return found


def _sums(theirs: dict[str, list[bool]]) -> tuple[int, int]:
    return sum(map(sum, theirs.values())), sum(map(len, theirs.values()))


def _told(theirs: dict[str, list[bool]] | None) -> None:
    if theirs is None:
        print("anneal-memory is not installed: its column is left out")
    else:
        got, cases = _sums(theirs)
        print(f"anneal-memory: {got} through of the {cases} cases that can be put to it")
