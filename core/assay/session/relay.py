"""Events of hooks that cannot wait: the worker of the store is told of them in order, and someone waits later."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.session.guarding import guard

if TYPE_CHECKING:
    import asyncio

    from assay.session.session import Session

__all__ = ["Relay"]


class Relay:
    """Hands what sync hooks on an event loop tell to the worker of a store: at once, in order, together if it can.

    A fault of an event is counted by `guard`, and the next one is told all the same.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._events: deque[tuple[str, Callable[[], object]]] = deque()
        self._lock = threading.Lock()
        self._task: asyncio.Task[None] | None = None

    def tell(self, code: str, event: Callable[[], object]) -> None:
        """Hand over an event.

        Args:
            code: Under which its fault is counted.
        """
        self._events.append((code, event))
        self._going_on()

    def flush(self) -> None:
        """Tell now, in this thread, what waits to be told."""
        with self._lock:
            while self._events:
                code, event = self._events.popleft()
                with guard(self._session, code):
                    event()

    async def settled(self) -> None:
        """Wait until everything that was handed over is on disk."""
        import asyncio

        while (task := self._going_on()) is not None:
            await asyncio.shield(task)

    def _going_on(self) -> asyncio.Task[None] | None:
        """Give the task that waits for the worker; None when nothing is left to tell."""
        import asyncio

        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._hand_over()) if self._events else None
        return self._task

    async def _hand_over(self) -> None:
        with guard(self._session, "record"):
            while self._events:
                await self._session.aio.run(self.flush)
        self._events.clear()  # of a store that cannot be had
