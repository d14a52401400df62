"""Events of hooks that cannot wait: the worker of the store is told of them in order, and someone waits later.

The worker begins when someone waits, or a moment later: beside a host that is running Python, the two would only pass
Python's lock to and fro.
"""

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

_PATIENCE = 0.02  # seconds: what nobody waits for, as while a tool is running, is told after these


class Relay:
    """Hands what sync hooks on an event loop tell to the worker of a store: soon, in order, together if it can.

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
        import asyncio

        self._events.append((code, event))
        task = self._task
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            self._task = asyncio.ensure_future(self._hand_over())

    def flush(self) -> None:
        """Tell now, in this thread, what waits to be told."""
        with self._lock:
            while self._events:
                code, event = self._events.popleft()
                with guard(self._session, code):
                    event()

    async def settled(self) -> None:
        """Wait until everything that was handed over is on disk."""
        with guard(self._session, "record"):
            while self._events or self._lock.locked():
                await self._session.aio.run(self.flush)
        self._events.clear()  # of a store that cannot be had

    async def _hand_over(self) -> None:
        """Tell what nobody has waited for, and what is left when the loop ends."""
        import asyncio

        try:
            await asyncio.sleep(_PATIENCE)
        except asyncio.CancelledError:
            self.flush()
            raise
        await self.settled()
