"""The readers: at most four connections, each used by one thread at a time."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable

from assay.errors import Busy, Closed

__all__ = ["ReaderPool"]

_MOST = 4


class ReaderPool:
    """Hands out reading connections and takes them back.

    Args:
        connect: Opens a connection.
        path: Names the store in errors.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], path: str) -> None:
        self._connect = connect
        self._path = path
        self._changed = threading.Condition(threading.Lock())
        self._idle: list[sqlite3.Connection] = []
        self._opening = 0
        self._closed = False
        self.members: list[sqlite3.Connection] = []  # idle or in use

    def adopt(self, connection: sqlite3.Connection) -> None:
        """Take in a connection that was opened elsewhere."""
        with self._changed:
            self.members.append(connection)
            self._idle.append(connection)

    def take(self, deadline: float) -> sqlite3.Connection:
        """Give a connection that nobody uses.

        Raises:
            Busy: All were in use until the deadline, a value of `time.monotonic()`.
            Closed: The pool was closed.
        """
        with self._changed:
            while True:
                if self._closed:
                    raise Closed(f"{self._path} was closed: open a new Store")
                if self._idle:
                    return self._idle.pop()
                if len(self.members) + self._opening < _MOST:
                    self._opening += 1
                    break
                if not self._changed.wait(deadline - time.monotonic()):
                    raise Busy(f"{self._path}: all readers were in use until the deadline; try again")
        try:
            connection = self._connect()
            with self._changed:
                self.members.append(connection)
            return connection
        finally:
            with self._changed:
                self._opening -= 1

    def give(self, connection: sqlite3.Connection) -> None:
        """Take a connection back; its snapshot ends."""
        with self._changed:
            if connection not in self.members:
                return  # taken before a fork: it belongs to the parent
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)
                self._changed.notify()

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it comes back."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            self._changed.notify_all()
        for connection in idle:
            connection.close()
