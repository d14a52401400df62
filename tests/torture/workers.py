"""A process of its own that records into a store, and says after each record that it is durable."""

from __future__ import annotations

import subprocess
import sys
from itertools import count as counting
from pathlib import Path
from types import TracebackType
from typing import Self


class Worker:
    """Starts such a process; `count` bounds what it records, None lets it go on until it is killed."""

    def __init__(self, path: Path, name: str, count: int | None = None) -> None:
        self.name = name
        command = [sys.executable, __file__, str(path), name, str(count)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._out = self._process.stdout
        self._first = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()  # this process alone, by its id
        self._process.wait()
        self._out.close()

    def wait_for_first(self) -> None:
        """Wait until it has acknowledged a record."""
        self._first = self._out.readline()
        assert self._first, f"{self.name} ended before its first record"

    def kill(self) -> list[int]:
        """Kill it where it is; give what it acknowledged."""
        self._process.kill()
        return self._acknowledged()

    def finish(self) -> list[int]:
        """Let it come to its end; give what it acknowledged."""
        numbers = self._acknowledged()
        assert self._process.returncode == 0, f"{self.name} failed"
        return numbers

    def _acknowledged(self) -> list[int]:
        said = self._first + self._out.read()
        self._process.wait()
        # A line that the kill cut short acknowledges nothing.
        return [int(line) for line in said.splitlines(keepends=True) if line.endswith("\n")]


def main() -> None:
    """Record in a loop, each time printing the number once the record is durable."""
    from assay import Store

    path, name, count = sys.argv[1:]
    with Store(path) as store:
        for number in counting() if count == "None" else range(int(count)):
            store.record(f"event {number}", source=name)
            print(number, flush=True)


if __name__ == "__main__":
    main()
