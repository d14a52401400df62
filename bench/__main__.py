"""`python -m bench NAME`: measures speed and quality; what is promised is a ratio within one run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib import import_module

from bench import cold


def main() -> int:
    """Run one bench; the exit code says whether its goal was met."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", choices=["adapters", "attacks", "cold", "recall", "speed", "torture", "writeq"])
    options = parser.parse_args(sys.argv[1:2])
    rest = sys.argv[2:]
    if options.name == "cold":
        return _cold(rest)
    run: Callable[[list[str]], int] = import_module(f"bench.{options.name}").main
    return run(rest)


def _cold(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench cold", description=cold.__doc__)
    parser.add_argument("--rounds", type=int, default=31, help="repetitions, 31 by default")
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    options = parser.parse_args(arguments)
    found = cold.measure(max(1, options.rounds))
    if options.json:
        print(json.dumps({"bench": "cold", "met": found.met, **found.figures}))
    else:
        print(f"cold: {'met' if found.met else 'NOT MET'}: {found.goal}")
        for name, value in found.figures.items():
            print(f"  {name:24}{value}")
    return 0 if found.met else 1


if __name__ == "__main__":
    sys.exit(main())
