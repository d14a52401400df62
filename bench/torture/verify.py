"""What it takes to check everything: seconds and memory of `verify` for a log of many entries, each in a process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from bench.torture.travel import fill, megabytes

__all__ = ["measure"]

ENTRIES = 20_000
LONG = 1_000_000


def measure(folder: Path, *, long: bool, entries: int = 0) -> dict[str, float]:
    """Give seconds and megabytes of the whole, of the log without the index, and of what came after an anchor.

    Args:
        long: With a million entries rather than 20,000.
    """
    entries = entries or (LONG if long else ENTRIES)
    steps = {name: _run(name, folder / "memory.db", entries) for name in ("fill", "whole", "log", "since_anchor")}
    found: dict[str, float] = {"entries": entries}
    for name in ("whole", "log", "since_anchor"):
        found |= {f"{name}_s": round(steps[name]["seconds"], 2), f"{name}_mb": round(steps[name]["mb"])}
    return {**found, "valid": int(all(step["valid"] for step in steps.values()))}


def _run(step: str, path: Path, entries: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.torture.verify", step, str(path), str(entries)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def _step(step: str, path: Path, entries: int) -> tuple[bool, float]:
    """Do one step; give whether the store is valid, and the seconds of processor time."""
    from assay import Store

    if step == "fill":
        with Store(path, synchronous="NORMAL") as store:
            fill(store, entries)
            store.audit.checkpoint()
        return True, 0.0
    with Store(path, read_only=True) as store:
        began = time.process_time()
        found = store.verify(index=step == "whole", since_anchor=step == "since_anchor")
        return found.valid, time.process_time() - began


if __name__ == "__main__":
    valid, seconds = _step(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps({"valid": valid, "seconds": seconds, "mb": megabytes()}))
