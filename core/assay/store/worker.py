"""One thread on which calls wait their turn."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["Worker"]

T = TypeVar("T")


class Worker:
    """A thread that begins with its first call, and again after a fork, which leaves it behind."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._process = 0

    def submit(self, fn: Callable[[], T], *, delay: float = 0.0) -> Future[T]:
        """Call a function after those before it.

        Args:
            delay: Seconds before which it is not called.
        """
        due = time.monotonic() + delay

        def called() -> T:
            time.sleep(max(0.0, due - time.monotonic()))
            return fn()

        if self._thread is None or self._process != os.getpid():
            from concurrent.futures import ThreadPoolExecutor

            self._thread, self._process = ThreadPoolExecutor(1, "assay"), os.getpid()
        return self._thread.submit(called if delay else fn)

    def close(self) -> None:
        """Wait for the calls that were submitted, and end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None and self._process == os.getpid():
            thread.shutdown(wait=True)
