"""The writer queue: a file lock beside the database that makes processes take turns.

SQLite's own lock stays the guard; the queue brings fairness, and keeps commits and checkpoints of the
write-ahead log apart (SQLite 3.7.0 to 3.51.2 can corrupt the file when the two race).
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from assay.errors import Busy, ReadOnly

if os.name == "posix" or TYPE_CHECKING:
    import fcntl

__all__ = ["WriterQueue"]

# Descriptors that hold or wait for the lock. A child of a fork shares the lock with its parent until it closes them.
_descriptors: set[int] = set()


class WriterQueue:
    """A lock file taken around each commit; without POSIX locks it does nothing, and retries give the turns."""

    def __init__(self, path: str | None) -> None:
        self._path = path if os.name == "posix" else None
        self._fd: int | None = None

    def acquire(self, deadline: float) -> None:
        """Take the lock.

        Args:
            deadline: Value of `time.monotonic()` after which to give up.

        Raises:
            Busy: The deadline passed.
            ReadOnly: The lock file cannot be opened.
        """
        if self._path is None:
            return
        if self._fd is None:
            try:
                self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            except OSError as error:
                raise ReadOnly(f"{self._path} cannot be opened ({error.strerror}): check the folder") from error
            _descriptors.add(self._fd)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fd, self._fd = self._fd, None  # the waiter owns it until it has won
            self._fd = _wait(fd, deadline)

    def release(self) -> None:
        """Let the next writer in."""
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give the descriptor up, and with it the lock."""
        if self._fd is not None:
            _close(self._fd)
            self._fd = None


def _wait(fd: int, deadline: float) -> int:
    """Wait in a thread, because a blocking lock is fair but has no deadline of its own."""
    guard = threading.Lock()
    won = threading.Event()
    abandoned = False

    def block() -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with guard:
            if abandoned:
                _close(fd)
            else:
                won.set()

    threading.Thread(target=block, name="assay-writer-queue", daemon=True).start()
    try:
        if won.wait(max(0.0, deadline - time.monotonic())):
            return fd
        raise Busy("other writers held the store until the deadline: nothing was written; try again")
    except BaseException:  # an interrupt as well: nobody else would free the lock
        with guard:
            abandoned = True
            if won.is_set():
                _close(fd)
        raise


def _close(fd: int) -> None:
    _descriptors.discard(fd)
    os.close(fd)


def _after_fork_in_child() -> None:
    for fd in list(_descriptors):
        _close(fd)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
