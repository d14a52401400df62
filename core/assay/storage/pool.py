"""The readers: at most four connections, each used by one thread at a time."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from assay.errors import Busy, Closed

__all__ = ["ReaderPool"]

_MOST = 4


class ReaderPool:
    """Hands out reading connections and takes them back.

    It waits in a queue written in C and holds no lock of its own, so that an interrupt leaves nothing held.

    Args:
        connect: Opens a connection.
        path: Names the store in errors.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], path: str) -> None:
        self._connect = connect
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        self._places: SimpleQueue[None] = SimpleQueue()
        for _ in range(_MOST):
            self._places.put(None)
        self._closed = False
        self.members: list[sqlite3.Connection] = []  # idle or in use

    def adopt(self, connection: sqlite3.Connection) -> None:
        """Take in a connection that was opened elsewhere."""
        self.members.append(connection)
        self._idle.append(connection)

    def take(self, deadline: float) -> sqlite3.Connection:
        """Give a connection that nobody uses.

        Raises:
            Busy: All were in use until the deadline, a value of `time.monotonic()`.
            Closed: The pool was closed.
        """
        self._check_open()
        try:
            self._places.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty as error:
            raise Busy(f"{self._path}: all readers were in use until the deadline; try again") from error
        try:
            self._check_open()
            if self._idle:
                return self._idle.pop()
            connection = self._connect()
            self.members.append(connection)
            return connection
        except BaseException:
            self._places.put(None)
            raise

    def give(self, connection: sqlite3.Connection) -> None:
        """Take a connection back; its snapshot ends."""
        if connection not in self.members:
            return  # taken before a fork: it belongs to the parent
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        finally:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)
            self._places.put(None)

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it comes back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _check_open(self) -> None:
        if self._closed:
            raise Closed(f"{self._path} was closed: open a new Store")
