"""What a store loses, hides or leaves behind when everything goes wrong: the figures must be zero.

    python -m bench torture [--json] [--long] [--only kill,powercut,...]

Each part is bounded in time, works in a temporary folder, and kills only processes that it started.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["MUST", "PARTS", "main"]

Figures = dict[str, float]

# Each is a module of this package with `measure(folder, long=...)`.
PARTS = (
    *("kill", "moves", "powercut", "faults", "tamper", "bitflips", "erase", "writers", "sharing", "audit_cost"),
    *("forged", "travel", "verify"),
)
# What each part promises, beside running at all.
MUST: Mapping[str, Callable[[Mapping[str, float]], bool]] = {
    "kill": lambda found: not (found["lost"] or found["unaudited"] or found["stuck"]),
    "moves": lambda found: found["moved"] > 0 and not found["wrong"],
    "powercut": lambda found: not found["lost"] and found["control_lost"] > 0,
    "faults": lambda found: found["struck"] > 0 and not (found["untyped"] or found["lost"]),
    "tamper": lambda found: found["anchored"] == found["cases"] and found["unanchored"] >= 0.8 * found["cases"],
    "bitflips": lambda found: not found["undetected"],
    "erase": lambda found: not found["residue"],
    "writers": lambda found: found["p99_ms"] <= 50 and found["max_ms"] <= 250 and not found["errors"],
    "sharing": lambda found: min(found[f"{name}_percent"] for name in ("forked", "threads", "tasks")) == 100,
    "audit_cost": lambda found: found["percent"] <= 15,
    "forged": lambda found: not found["accepted"] and found["vectors"] == 8,
    "travel": lambda found: found["equal"] == 1,
    # In memory that does not grow with the log: 40 seconds are for a million entries.
    "verify": lambda found: found["valid"] == 1 and found["whole_mb"] <= 200 and found["whole_s"] <= 40,
}


def main(arguments: Sequence[str]) -> int:
    """Run the parts; the exit code says whether every promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m bench torture", description=__doc__)
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    parser.add_argument("--long", action="store_true", help="the form that is run before a release")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    options = parser.parse_args(arguments)
    chosen = [part for part in PARTS if part in options.only.split(",")]
    found: dict[str, Any] = {}
    for part in chosen:
        begun = time.monotonic()
        measure: Callable[..., Figures] = import_module(f"bench.torture.{part}").measure
        with tempfile.TemporaryDirectory() as folder:
            found[part] = measure(Path(folder), long=options.long)
        kept = "kept" if MUST[part](found[part]) else "NOT KEPT"
        print(f"{part:10}{kept:10}{time.monotonic() - begun:6.0f} s  {found[part]}", flush=True)
    other = _beside(chosen)
    if options.json:
        print(json.dumps({**found, **other}))
    return 0 if all(MUST[part](figures) for part, figures in found.items()) else 1


def _beside(chosen: Sequence[str]) -> dict[str, dict[str, Figures]]:
    """Measure what can be measured of another memory, if it is installed; it promises nothing here."""
    from bench.torture import beside

    from bench import engines

    if not engines.installed(engines.ANNEAL):
        print(f"{engines.ANNEAL} is not installed: nothing to stand beside")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        found = beside.measure(Path(folder), chosen)
    for part, figures in found.items():
        print(f"{engines.ANNEAL} {part:10}{figures}", flush=True)
    return {engines.ANNEAL: found}


def log(message: str) -> None:
    """Say on standard error what went wrong, so that a figure that is not zero can be followed up."""
    print(message, file=sys.stderr, flush=True)
