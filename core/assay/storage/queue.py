"""The writer queue: a file lock beside the database that makes processes take turns.

SQLite's own lock stays the guard; the queue brings fairness, and keeps commits and checkpoints of the
write-ahead log apart (SQLite 3.7.0 to 3.51.2 can corrupt the file when the two race).
"""

from __future__ import annotations

import _thread
import os
import time
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from assay.errors import Busy, ReadOnly, StorageFailure

if os.name == "posix" or TYPE_CHECKING:
    import fcntl

__all__ = ["WriterQueue"]

# Descriptors that hold or wait for the lock. A child of a fork shares the lock with its parent until it closes them.
_descriptors: set[int] = set()


class WriterQueue:
    """A lock file taken around each commit; without POSIX locks it does nothing, and retries give the turns.

    Attributes:
        release: Lets the next writer in; harmless when nothing is held. It calls straight into C, so that an
            interrupt cannot fall into it.
    """

    release: Callable[[], object]
    _fd: int | None

    def __init__(self, path: str | None) -> None:
        self._path = path if os.name == "posix" else None
        self._keep(None)

    def acquire(self, deadline: float) -> None:
        """Take the lock; whoever calls must `release` it, also when an exception came out of this.

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
                fd = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            except OSError as error:
                raise ReadOnly(f"{self._path} cannot be opened ({error.strerror}): check the folder") from error
            _descriptors.add(fd)
            self._keep(fd)
        else:
            fd = self._fd
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._wait(fd, deadline)
        except OSError as error:  # network file systems may have no locks left, or none at all
            raise StorageFailure(f"{self._path} cannot be locked ({error.strerror}): nothing was written") from error

    def close(self) -> None:
        """Give the descriptor up, and with it the lock."""
        if self._fd is not None:
            fd = self._fd
            self._keep(None)
            _close(fd)

    def _keep(self, fd: int | None) -> None:
        release = bool if fd is None else partial(fcntl.flock, fd, fcntl.LOCK_UN)
        self._fd, self.release = fd, release  # together: no call stands between the two

    def _wait(self, fd: int, deadline: float) -> None:
        """Wait in a thread, because a blocking lock is fair but has no deadline of its own.

        The thread, which no interrupt reaches, gives the lock up again unless it has been kept.
        """
        release = self.release
        self._keep(None)
        won: SimpleQueue[bool] = SimpleQueue()  # it and the start of a bare thread are C: no interrupt breaks them
        kept, waiting = False, True

        def block() -> None:
            fcntl.flock(fd, fcntl.LOCK_EX)
            won.put(True)
            while waiting:
                time.sleep(0.0005)
            if not kept:
                _close(fd)

        try:
            _thread.start_new_thread(block, ())
            won.get(timeout=max(0.0, deadline - time.monotonic()))
            # No call from here on: an interrupt falls before all of it or behind it.
            kept, self._fd, self.release = True, fd, release
        except Empty as error:
            raise Busy("other writers held the store until the deadline: nothing was written; try again") from error
        finally:
            waiting = False


def _close(fd: int) -> None:
    _descriptors.discard(fd)
    os.close(fd)


def _after_fork_in_child() -> None:
    for fd in list(_descriptors):
        _close(fd)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
