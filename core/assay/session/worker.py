"""The thread on which the coroutines of one store touch the disk, so that an event loop never waits for it."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["Worker"]

T = TypeVar("T")


class Worker:
    """Runs calls one after the other, in the order in which they were made."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="assay-store")
        self._process = os.getpid()

    @property
    def usable(self) -> bool:
        """Tell whether its thread is in this process: a fork leaves it behind."""
        return self._process == os.getpid()

    async def run(self, fn: Callable[[], T], done: Callable[[], None]) -> T:
        """Run a call on the thread; when the task that waits is cancelled, the call is still made.

        Args:
            done: Called once it was made.
        """
        context = contextvars.copy_context()
        future = self._pool.submit(context.run, fn)
        future.add_done_callback(lambda _: done())
        waiting = asyncio.wrap_future(future)
        waiting.add_done_callback(_retrieve)
        return await asyncio.shield(waiting)

    def close(self) -> None:
        """Finish what was asked for, and end the thread."""
        if self.usable:
            self._pool.shutdown(wait=True)


def _retrieve(future: asyncio.Future[T]) -> None:
    """Look at the error of a call that nobody waits for any more, so that asyncio does not report it."""
    if not future.cancelled():
        future.exception()
