"""Who may write: first among the threads of this process, then among the processes.

An interrupt can fall between any two lines of Python and at the start of any function, but not into one call of C. So
what is held is noted in the call that takes it, and given back by a `finally` whose steps are such calls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import TypeVar

from assay.errors import Busy
from assay.storage.queue import WriterQueue

__all__ = ["Turns"]

T = TypeVar("T")


class Turns:
    """Gives turns to the writers of one file.

    Args:
        path: Names the store in errors.
        queue: The lock file between processes, or None where one process has the store for itself.
    """

    _lock: threading.Lock
    _holder: int | None
    queue: WriterQueue

    def __init__(self, path: str, queue: str | None) -> None:
        self._path = path
        self._queue_path = queue
        self.restart()

    def restart(self) -> None:
        """Hold nothing: the child of a fork begins anew, while the parent keeps its turn."""
        self._lock = threading.Lock()
        self._holder = None
        self.queue = WriterQueue(self._queue_path)

    def queued(self, deadline: float, use: Callable[[], T]) -> T:
        """Run `use` while no other thread and no other process has its turn.

        Raises:
            Busy: Others had it until the deadline, a value of `time.monotonic()`.
        """

        def queued() -> T:
            try:
                self.queue.acquire(deadline)
                return use()
            finally:
                self.queue.release()  # after a fork the child has a new queue, and holds nothing

        return self.alone(deadline, queued)

    def alone(self, deadline: float, use: Callable[[], T]) -> T:
        """Run `use` while no other thread has its turn.

        Raises:
            Busy: Others had it until the deadline, a value of `time.monotonic()`.
        """
        lock, taken = self._lock, list[bool]()
        try:
            self._take(taken, deadline)
            return use()
        finally:
            if taken:
                self._holder = None
                lock.release()

    def each_alone(self, deadline: float, values: Callable[[], T]) -> Generator[T]:
        """Yield what `values` gives, and keep the turn until the generator goes on or is dropped."""
        lock, taken = self._lock, list[bool]()
        try:
            self._take(taken, deadline)
            yield values()
        finally:
            if taken:
                self._holder = None
                lock.release()

    def _take(self, taken: list[bool], deadline: float) -> None:
        if self._holder == threading.get_ident():
            raise RuntimeError("a change was begun inside another change of the same store")
        timeout = max(0.0, deadline - time.monotonic())
        taken.extend(filter(None, map(self._lock.acquire, (True,), (timeout,))))
        if not taken:
            raise Busy(f"{self._path}: other threads held the store until the deadline; nothing was written")
        self._holder = threading.get_ident()
