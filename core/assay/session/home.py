"""One store of a router: opened at its first use, by whichever thread that is, and closed when idle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.errors import Closed
from assay.session.faults import Breaker, Fault, FaultLog
from assay.session.loop_guard import Shown
from assay.storage import session_rows
from assay.store import Store

if TYPE_CHECKING:
    from assay.session.worker import Worker

__all__ = ["Home"]


class Home:
    """A store and what the sessions on it share.

    Args:
        open_store: Opens it.
        owned: Whether the router may close it; a store that the host handed over stays open.
    """

    def __init__(self, open_store: Callable[[], Store], *, owned: bool) -> None:
        self.faults = FaultLog()
        self.shown = Shown()
        self._open = open_store
        self._owned = owned
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._uses = 0
        self._closed = False
        self._breaker = Breaker()
        self._worker: Worker | None = None

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Give the store for one call.

        Raises:
            OutOfOrder: It failed several times in a row and is left alone for a while.
            AssayError: It cannot be opened.
        """
        self._breaker.admit()
        with self._breaker.watch():
            with self._lock:
                if self._closed:
                    raise Closed("the router was closed: make a new StoreRouter")
                if self._store is None:
                    self._store = self._open()
                self._uses += 1
                store = self._store
            try:
                yield store
            finally:
                with self._lock:
                    self._uses -= 1
        self.faults.hand_over(lambda faults: _keep(store, faults))

    def slow(self) -> None:
        """Count a call that took too long as a failure of the store."""
        self._breaker.failed()

    @property
    def worker(self) -> Worker:
        """Give the one thread on which coroutines of every session of this store touch the disk."""
        with self._lock:
            if self._worker is None:
                from assay.session.worker import Worker

                self._worker = Worker()
            return self._worker

    def close_if_idle(self) -> bool:
        """Close the store unless a call is using it; it opens again at the next call."""
        with self._lock:
            if self._uses or not self._owned:
                return False
            self._shut()
            return True

    def close(self) -> None:
        """Close for good, after the coroutines that wait for the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
        with self._lock:
            self._closed = True
            self._shut()

    def _shut(self) -> None:
        if self._store is not None and self._owned:
            self._store.close()
        self._store = None


def _keep(store: Store, faults: list[Fault]) -> None:
    def write(tx: session_rows.OperationalWriter) -> None:
        for fault in faults:
            session_rows.add_fault(tx, fault.code, fault.count, fault.first, fault.last, fault.detail)

    store._database.operational(write)
