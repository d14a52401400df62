"""The power goes, simulated: what was not flushed is lost at random, sector by sector.

A run is traced with `strace`. From its writes, flushes and renames the disk is rebuilt as it may stand at any moment:
a file's bytes up to its last flush are there, later ones survive in sectors of 512 bytes and in any order, and so do
names that were created, changed or removed since their folder was flushed. The same run with `synchronous=NORMAL` is
the control: if it loses nothing, the simulation does not bite.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from bench.torture import log
from bench.torture.disk import Disk
from bench.torture.said import Said
from bench.torture.trace import CALLS, Trace

from assay import AssayError, Store

__all__ = ["measure"]

STEPS = 150
_MODES: tuple[Literal["FULL", "NORMAL"], ...] = ("FULL", "NORMAL")


def measure(folder: Path, *, long: bool, cuts: int = 0) -> dict[str, float]:
    """Cut the power `cuts` times; count the cuts after which something is lost, damaged or back."""
    cuts = cuts or (2_000 if long else 300)
    if shutil.which("strace") is None:
        raise SystemExit("the power cut is simulated from a trace: install strace, or leave it out with --only")
    lost, control = (_cut(folder / mode, mode, cuts) for mode in _MODES)
    return {"cuts": cuts, "lost": lost, "control_lost": control}


def _cut(folder: Path, mode: Literal["FULL", "NORMAL"], cuts: int) -> int:
    """Run the worker once under the trace, and cut it at random moments."""
    folder.mkdir()
    live, trace = folder / "live", folder / "trace"
    live.mkdir()
    Store(live / "memory.db", synchronous=mode).close()
    start = {path: path.read_bytes() for path in live.iterdir()}
    worker = [sys.executable, "-m", "bench.torture.worker", str(live / "memory.db"), "w", "3", str(STEPS), mode]
    command = [
        "strace",
        "-f",
        "-xx",
        "-y",
        "-s",
        "4000000",
        "-o",
        str(trace),
        "-e",
        f"trace={','.join(CALLS)}",
        *worker,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    events = list(Trace(trace, live))
    first = next(at for at, event in enumerate(events) if event.call == "say")
    dice = random.Random(11)
    failed = 0
    for number in range(cuts):
        moment = dice.randrange(first + 1, len(events) + 1)
        said, disk = Said(), Disk(start)
        for event in events[:moment]:
            said.hear([event.text]) if event.call == "say" else disk.see(event)
        after = folder / "after"
        disk.after_a_cut(after, live, dice)
        problems = _problems(after / "memory.db", said)
        failed += bool(problems)
        if problems and mode == "FULL":
            log(f"powercut {number}, moment {moment}: {problems[:3]}")
    return failed


def _problems(path: Path, said: Said) -> list[str]:
    try:
        with Store(path) as store:
            store.record("the power is back")
            return said.lost(store) + list(store.verify().problems)
    except AssayError as error:
        return [repr(error)]
