"""The readers: at most four connections, each used by one thread at a time; a second opens when the first is busy."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from assay.errors import Busy, Closed

__all__ = ["ReaderPool"]

_MOST = 4


class ReaderPool:
    """Hands out reading connections and takes them back.

    Its places wait in a queue written in C, so that an interrupt leaves nothing half done.

    Args:
        connect: Opens a connection.
        path: Names the store in errors.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], path: str) -> None:
        self._connect = connect
        self._path = path
        self._idle: SimpleQueue[sqlite3.Connection | None] = SimpleQueue()  # None: one that could not be opened
        self._unopened: SimpleQueue[sqlite3.Connection | None] = SimpleQueue()
        for _ in range(_MOST):
            self._unopened.put(None)
        self.closed = False
        self.members: list[sqlite3.Connection] = []  # idle or in use
        self.give = self._idle.put
        """Takes back what `take` gave; a call straight into C, which no interrupt can cut in two."""

    def adopt(self, connection: sqlite3.Connection) -> None:
        """Take in a connection that was opened elsewhere, for one place."""
        self._unopened.get_nowait()
        self.members.append(connection)
        self._idle.put(connection)

    def take(self, taken: list[sqlite3.Connection | None], deadline: float) -> sqlite3.Connection:
        """Give a connection that nobody uses: one that was used before, whose pages and statements are at hand.

        Args:
            taken: Receives it, in the same step that takes it: whatever happens then, the caller can give it back.
            deadline: Value of `time.monotonic()` after which to give up.

        Raises:
            Busy: All were in use until the deadline.
            Closed: The pool was closed.
        """
        self._check_open()
        for places, until in ((self._idle, 0.0), (self._unopened, 0.0), (self._idle, deadline)):
            with suppress(Empty):
                taken.extend(map(places.get, (True,), (max(0.0, until - time.monotonic()),)))
                break
        if not taken:
            raise Busy(f"{self._path}: all readers were in use until the deadline; try again")
        self._check_open()
        connection = taken[0]
        if connection is None:
            taken[0] = connection = self._connect()
            self.members.append(connection)
        return connection

    def close(self) -> None:
        """Close what is idle; again, once what was in use has come back."""
        self.closed = True
        with suppress(Empty):
            while True:
                idle = self._idle.get_nowait()
                if idle is not None:
                    idle.close()

    def _check_open(self) -> None:
        if self.closed:
            raise Closed(f"{self._path} was closed: open a new Store")
