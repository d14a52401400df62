"""Four processes that use everything are killed without warning, again and again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from bench.torture import log
from bench.torture.said import Said

from assay import Store, WrapStatus

__all__ = ["measure"]

WRITERS = 4
_CHECK_EVERY = 20  # rounds


def measure(folder: Path, *, long: bool, rounds: int = 0) -> dict[str, float]:
    """Kill the writers `rounds` times; count what was lost or unaudited, and wraps that are stuck."""
    rounds = rounds or (1_000 if long else 200)
    path = folder / "memory.db"
    Store(path).close()
    said, dice = Said(), random.Random(1)
    lost: set[str] = set()
    unaudited: set[str] = set()
    stuck = 0
    for number in range(1, rounds + 1):
        _round(path, number, said, dice)
        if number % _CHECK_EVERY == 0 or number == rounds:
            # Past the lease of any wrap that a dead writer left open; a store's time never goes back.
            with Store(path, clock=partial(_later, timedelta(minutes=11) * number)) as store:
                lost |= set(said.lost(store))
                unaudited |= set(store.verify().problems)
                stuck += _is_stuck(store)
    for problem in sorted(lost | unaudited)[:10]:
        log(f"kill: {problem}")
    return {
        "rounds": rounds,
        "acked": said.acknowledged,
        "lost": len(lost),
        "unaudited": len(unaudited),
        "stuck": stuck,
    }


def _round(path: Path, number: int, said: Said, dice: random.Random) -> None:
    with ExitStack() as stack:
        writers: list[subprocess.Popen[str]] = []
        for at in range(WRITERS):
            command = [sys.executable, "-m", "bench.torture.worker", str(path), f"w{at}", str(number * WRITERS + at)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            writers.append(stack.enter_context(process))
            stack.callback(process.kill)  # by its id, whatever happens here
        firsts = [process.stdout.readline() for process in writers if process.stdout]
        time.sleep(dice.uniform(0.0, 0.06))
        for process in writers:
            process.kill()
        for process, first in zip(writers, firsts, strict=True):
            said.hear([first, *(process.stdout or ())])


def _later(by: timedelta) -> datetime:
    return datetime.now(UTC) + by


def _is_stuck(store: Store) -> bool:
    """Tell whether a wrap that nobody will end still keeps others from wrapping, once its lease is over."""
    store.record("the next one begins", session="after")
    return store.wrap(session="after").status is not WrapStatus.COMMITTED
