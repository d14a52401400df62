"""A cold process that records one episode, against one that only imports what any such process imports."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.found import Found

LIMIT = 2.0
_PLAIN = "import sqlite3, json, logging, dataclasses"
_RECORD = "import sys\nfrom assay import Store\nwith Store(sys.argv[1]) as store:\n    store.record('x')"
_CREATE = "import sys\nfrom assay import Store\nStore(sys.argv[1]).close()"


def measure(rounds: int) -> Found:
    """Run both kinds of process in turns, and compare their median wall times."""
    plain: list[float] = []
    recorded: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "memory.db")
        timed(_CREATE, store)  # compiles what has no byte code yet, too
        timed(_RECORD, store)
        for _ in range(rounds):
            plain.append(timed(_PLAIN, store))
            recorded.append(timed(_RECORD, store))
    base, cost = statistics.median(plain), statistics.median(recorded)
    return Found(
        f"recording one episode costs a new process at most {LIMIT:g}x of one that only imports the standard parts",
        cost <= LIMIT * base,
        {"ratio": round(cost / base, 2), "record_ms": round(cost * 1000, 1), "imports_ms": round(base * 1000, 1)},
    )


def timed(code: str, store: str) -> float:
    """Give the seconds that a process takes; byte code is kept, as where the package is installed."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, store], check=True, env=environment)
    return time.perf_counter() - start
