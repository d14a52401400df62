"""Every attack of the suite against a fresh store, and honest evidence beside it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
REFUSED = 1 / 30  # honest controls that may be refused


def main(arguments: list[str]) -> int:
    """Run the suite; the exit code says whether nothing came through and honest evidence counts."""
    parser = argparse.ArgumentParser(prog="python -m bench attacks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT))
    from tests.attacks.suite import run

    report = run()
    met = not report.through and len(report.refused) <= REFUSED * report.honest
    if options.json:
        figures = {
            "cases": report.cases,
            "through": len(report.through),
            "honest": report.honest,
            "honest_refused": len(report.refused),
            "by_class": report.by_class,
        }
        print(json.dumps(figures))
        return 0 if met else 1
    for kind, counts in report.by_class.items():
        print(f"  {kind}  " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    for attack in report.through:
        print(f"  THROUGH {attack.kind}: {attack.title}")
    for control in report.refused:
        print(f"  REFUSED {control.language}: {control.claim}")
    print(
        f"attacks {report.cases}, through {len(report.through)}; honest {report.honest}, refused {len(report.refused)}"
    )
    return 0 if met else 1
