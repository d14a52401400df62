"""Sixteen processes write at once, fifty records each: how long the slowest waits for its turn."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from assay import AssayError, Store

__all__ = ["measure"]

WRITERS = 16
RECORDS = 50


def measure(folder: Path, *, long: bool) -> dict[str, float]:
    """Measure each record of each writer, in milliseconds; the worst of ten runs in the long form."""
    runs = [_run(folder / f"{number}.db") for number in range(10 if long else 1)]
    return {name: max(run[name] for run in runs) for name in ("p99_ms", "max_ms", "errors")}


def _run(path: Path) -> dict[str, float]:
    Store(path).close()
    with ExitStack() as stack:
        writers = []
        for number in range(WRITERS):
            command = [sys.executable, "-m", "bench.torture.writers", str(path), f"w{number}"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            writers.append(stack.enter_context(process))
            stack.callback(process.kill)
        for process in writers:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in writers:  # all begin at once
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for process in writers if process.stdout is not None]
    times = sorted(taken for answer in answers for taken in answer["times"])
    with Store(path) as store:
        held = len(store.episodes.list(limit=WRITERS * RECORDS + 1))
    errors = sum(answer["errors"] for answer in answers) + WRITERS * RECORDS - held
    return {"p99_ms": round(times[int(len(times) * 0.99)], 2), "max_ms": round(times[-1], 2), "errors": errors}


def main() -> None:
    """Be one writer: wait for the word, record, and print what each record took."""
    path, name = sys.argv[1:]
    times: list[float] = []
    errors = 0
    with Store(path) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(RECORDS):
            begun = time.perf_counter()
            try:
                store.record(f"{name} saw event {number}", source=name)
            except AssayError:
                errors += 1
            times.append((time.perf_counter() - begun) * 1_000)
    print(json.dumps({"times": times, "errors": errors}), flush=True)
    sys.stdin.readline()  # that fifteen interpreters come to their ends is no part of what a record took


if __name__ == "__main__":
    main()
