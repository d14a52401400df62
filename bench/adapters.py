"""What memory adds to a model call of each framework that is installed, in a store of many episodes.

The real framework runs a scripted agent that calls a tool in every step: bare, with a user's own idle hooks, and with
memory, in turns. The cost of a call is the time from the end of the call before it to its own beginning, less what the
median bare run takes for the same stretch: two durable records, and the briefing's place in the prompt. The goal is the
median over all calls. The first call of a run also waits for the briefing to be made, so it is shown beside, as are the
mean over whole runs, the processor time (of all threads), what the host itself charges for hooks, and the least of all
rounds, which on a machine that is busy with other things says more than the median.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from assay import Store
from assay.session import SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Entry, Harness, PlainHarness, Say, Script

ROOT = Path(__file__).resolve().parents[1]
GOAL_MS = 3.0
_STEPS = 8  # some hosts end a run at ten calls of a model
_VOCABULARY = 5_000
_WARM_UP = 2
_OPTIONS = SessionOptions(wrap=WrapPolicy.manual())


@dataclass(frozen=True, slots=True)
class Added:
    """What is added to a model call, in milliseconds.

    Attributes:
        call: Median over all calls: what the goal is about.
        least: Median over the calls of a run, each the fastest of all rounds less the fastest bare one.
        first: Median over the first calls of runs.
        mean: Of a whole run, divided by its calls, the end of the run included.
        cpu: The same in processor time.
        hooks: As `call`, where a user's own hooks stand instead of a memory.
    """

    call: float
    least: float
    first: float
    mean: float
    cpu: float
    hooks: float


@dataclass(frozen=True, slots=True)
class _Ran:
    """One run: the stretches of time outside of its model, the last one behind the last call, and its CPU time."""

    stretches: tuple[float, ...]
    cpu: float


class _Timed(Script):
    """A script that notes when its model begins and ends to speak."""

    def __init__(self, number: int) -> None:
        calls = [Call("add", {"a": 1_000 * number, "b": at}, f"c{number}-{at}") for at in range(_STEPS)]
        super().__init__(*calls, Say(f"Done {number}."))
        self.marks: list[float] = []

    def reply(self, *given: Any, **named: Any) -> Any:
        """Answer as a script does."""
        self.marks.append(time.perf_counter())
        try:
            return super().reply(*given, **named)
        finally:
            self.marks.append(time.perf_counter())


def main(arguments: list[str]) -> int:
    """Measure; the exit code says whether every framework met the goal."""
    parser = argparse.ArgumentParser(prog="python -m bench adapters", description=__doc__)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--store", help="a file to fill once and use again, instead of a temporary one")
    parser.add_argument("--only", default="", help="one folder, such as langgraph")
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT / "tests"))  # not its parent: a host of ours installs a package named `tests`
    found: dict[str, Added] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = _filled(Path(options.store or f"{folder}/memory.db"), options.episodes)
        for name, harness in _harnesses(options.only):
            found[name] = _measured(harness, path, options.rounds)
            if not options.json:
                print(name.ljust(18), *(f"{key} {cost:6.2f} " for key, cost in asdict(found[name]).items()), flush=True)
    met = all(added.call <= GOAL_MS for added in found.values())
    if options.json:
        added_ms = {name: asdict(added) for name, added in found.items()}
        print(json.dumps({"bench": "adapters", "episodes": options.episodes, "met": met, "added_ms": added_ms}))
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
            importlib.import_module(f"integrations.{folder}.conftest")  # sets what keeps the host off the network
            module = importlib.import_module(f"integrations.{folder}.harness")
        except ModuleNotFoundError as error:
            if only:
                raise SystemExit(f"{folder} cannot be imported here: {error}") from error
            continue
        name = next(name for name in module.__all__ if name.endswith("Harness"))
        found.append((folder, getattr(module, name)()))
    return found


def _measured(harness: Harness[Any], filled: Path, rounds: int) -> Added:
    """Measure on a copy, so that no framework finds what another one has recorded."""
    path = filled.with_name(f"{filled.stem}-copy.db")
    ran: dict[str, list[_Ran]] = {"bare": [], "hooks": [], "memory": []}
    shutil.copyfile(filled, path)
    try:
        with StoreRouter(path) as router, Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            for number in range(rounds + _WARM_UP):
                ran["bare"].append(_run(harness, None, number))
                ran["hooks"].append(_run(harness, None, number, user_hooks=True))
                ran["memory"].append(_run(harness, router, number))
    finally:
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink()
    bare, hooks, memory = (runs[_WARM_UP:] for runs in ran.values())
    usual = [median(stretch) for stretch in zip(*(run.stretches for run in bare), strict=True)]
    of_calls, of_hooks = (
        [[took - base for took, base in zip(run.stretches, usual, strict=True)] for run in runs]
        for runs in (memory, hooks)
    )
    return Added(
        call=_ms(cost for run in of_calls for cost in run[:-1]),
        least=_ms(took - base for took, base in zip(_fastest(memory), _fastest(bare), strict=True)),
        first=_ms(run[0] for run in of_calls),
        mean=_ms(sum(run) / (_STEPS + 1) for run in of_calls),
        cpu=_ms((run.cpu - median(one.cpu for one in bare)) / (_STEPS + 1) for run in memory),
        hooks=_ms(cost for run in of_hooks for cost in run[:-1]),
    )


def _run(harness: Harness[Any], memory: StoreRouter | None, number: int, *, user_hooks: bool = False) -> _Ran:
    script = _Timed(number)
    agent = harness.build(script, memory=memory, options=_OPTIONS, user_hooks=user_hooks)
    key = SessionKey("ada", f"bench-{number}-{memory is None}-{user_hooks}")
    entry = Entry.SYNC if Entry.SYNC in harness.entries else Entry.ASYNC
    asked = f"What of word{number + 3} and word{97 + number}, and of word{1234 + number}?"
    began, cpu = time.perf_counter(), time.process_time()
    outcome = harness.run(agent, asked, key=key, entry=entry)
    ended, cpu = time.perf_counter(), time.process_time() - cpu
    if outcome.error is not None:
        raise outcome.error
    outside = [began, *script.marks, ended]
    return _Ran(tuple(outside[at + 1] - outside[at] for at in range(0, len(outside), 2)), cpu)


def _fastest(runs: list[_Ran]) -> list[float]:
    return [min(stretch) for stretch in zip(*(run.stretches[:-1] for run in runs), strict=True)]


def _ms(seconds: Iterable[float]) -> float:
    return round(median(seconds) * 1000, 2)
