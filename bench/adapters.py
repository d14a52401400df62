"""What memory adds to a model call of each framework that is installed, in a store of many episodes.

The real framework runs a scripted agent that calls a tool in every step, with memory and without, in turns. The cost of
a call is what memory adds to a run, divided by the calls of its model: the briefing, and three durable records a call.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from assay import Store
from assay.session import SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Entry, Harness, PlainHarness, Say, Script

ROOT = Path(__file__).resolve().parents[1]
GOAL_MS = 3.0
_STEPS = 10
_VOCABULARY = 5_000


def main(arguments: list[str]) -> int:
    """Measure; the exit code says whether every framework met the goal."""
    parser = argparse.ArgumentParser(prog="python -m bench adapters", description=__doc__)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--store", help="a file to fill once and use again, instead of a temporary one")
    parser.add_argument("--only", default="", help="one folder, such as langgraph")
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT))
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = _filled(Path(options.store or f"{folder}/memory.db"), options.episodes)
        for name, harness in _harnesses(options.only):
            found[name] = round(_added_ms(harness, path, options.rounds), 2)
            if not options.json:
                print(f"{name:20}{found[name]:8.2f} ms a model call", flush=True)
    met = all(cost <= GOAL_MS for cost in found.values())
    if options.json:
        print(json.dumps({"bench": "adapters", "episodes": options.episodes, "met": met, "added_ms": found}))
    return 0 if met else 1


def _filled(path: Path, episodes: int) -> Path:
    """Fill a store with texts whose words are as unevenly spread as those of people (Zipf)."""
    dice, weights = random.Random(7), [1 / (rank + 1) for rank in range(_VOCABULARY)]
    with Store(path, synchronous="NORMAL") as store:
        for at in range(store.status().episodes, episodes):
            words = " ".join(f"word{rank}" for rank in dice.choices(range(_VOCABULARY), weights, k=14))
            store.record(f"{words} {at}", source="ada", session=f"s{at // 50}")
    return path


def _harnesses(only: str) -> list[tuple[str, Harness[Any]]]:
    """Give the plain loop, and each framework that is installed here."""
    found: list[tuple[str, Harness[Any]]] = [] if only else [("(no framework)", PlainHarness())]
    for folder in sorted(path.name for path in (ROOT / "tests" / "integrations").iterdir() if path.is_dir()):
        if only not in ("", folder):
            continue
        try:
            module = importlib.import_module(f"tests.integrations.{folder}.harness")
        except ModuleNotFoundError:
            continue
        name = next(name for name in module.__all__ if name.endswith("Harness"))
        found.append((folder, getattr(module, name)()))
    return found


def _added_ms(harness: Harness[Any], path: Path, rounds: int) -> float:
    options = SessionOptions(wrap=WrapPolicy.manual())
    entry = Entry.SYNC if Entry.SYNC in harness.entries else Entry.ASYNC
    added: list[float] = []
    with StoreRouter(str(path)) as router:
        for number in range(rounds + 2):
            bare, ran = (_run(harness, memory, options, entry, number) for memory in (None, router))
            added.append((ran - bare) * 1000 / (_STEPS + 1))
    return statistics.median(added[2:])


def _run(
    harness: Harness[Any], memory: StoreRouter | None, options: SessionOptions, entry: Entry, number: int
) -> float:
    calls = [Call("add", {"a": number, "b": at}, f"c{number}-{at}") for at in range(_STEPS)]
    agent = harness.build(Script(*calls, Say(f"Done {number}.")), memory=memory, options=options)
    key = SessionKey("ada", f"bench-{number}-{memory is None}")
    began = time.perf_counter()
    outcome = harness.run(
        agent, f"What of word{number + 3} and word{97 + number}, and of word{1234 + number}?", key=key, entry=entry
    )
    took = time.perf_counter() - began
    if outcome.error is not None:
        raise outcome.error
    return took
