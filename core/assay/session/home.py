"""One store of a router: opened at its first use, by whichever thread that is, and closed when idle."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from assay.errors import Closed
from assay.session.engine import database_of
from assay.session.faults import Breaker, Fault, FaultLog
from assay.session.shown import Shown
from assay.storage.operational import OperationalWriter
from assay.storage.session_rows import add_fault
from assay.store import Store

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["Home"]

T = TypeVar("T")


class Home:
    """A store and what the sessions on it share.

    Args:
        open_store: Opens it.
        owned: Whether the router may close it; a store that the host handed over stays open.
        on_open: Called, without any lock held, after it was opened.
    """

    def __init__(self, open_store: Callable[[], Store], *, owned: bool, on_open: Callable[[Home], None]) -> None:
        self.faults = FaultLog()
        self.shown = Shown()
        self._open = open_store
        self._owned = owned
        self._on_open = on_open
        self._lock = threading.Lock()
        self._breaker = Breaker()
        self._store: Store | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._process = 0
        self._uses = 0
        self._closed = False

    @contextmanager
    def store(self) -> Generator[Store]:
        """Give the store for one call.

        Raises:
            OutOfOrder: It failed several times in a row and is left alone for a while.
            AssayError: It cannot be opened.
        """
        with self._breaker.watch():
            store = self._take()
            try:
                yield store
            finally:
                self._give()
        self.faults.hand_over(lambda faults: _keep(store, faults))

    async def run(self, fn: Callable[[], T]) -> T:
        """Run a call on the one thread on which coroutines of every session of this store touch the disk."""
        import asyncio
        import contextvars

        loop, told = asyncio.get_running_loop(), asyncio.Event()

        def done(_: object) -> None:
            self._give()
            with suppress(RuntimeError):  # the loop was closed meanwhile, with all who waited
                loop.call_soon_threadsafe(told.set)

        with self._lock:
            future = self._current_worker().submit(contextvars.copy_context().run, fn)
            self._uses += 1
        future.add_done_callback(done)
        await told.wait()
        return future.result()

    def close_if_idle(self) -> bool:
        """Close the store unless a call is using it; it opens again at the next call."""
        with self._lock:
            if self._uses == 0:
                self._shut()
            return self._store is None

    def close(self) -> None:
        """Close for good, after the calls that wait for the worker."""
        with self._lock:
            self._closed = True
            worker, self._worker = self._worker, None
        if worker is not None and self._process == os.getpid():
            worker.shutdown(wait=True)
        with self._lock:
            self._shut()

    def _take(self) -> Store:
        with self._lock:
            if self._closed:
                raise Closed("the router was closed: make a new StoreRouter")
            opened = self._store is None
            store = self._store = self._store or self._open()
            self._uses += 1
        if opened:
            self._on_open(self)
        return store

    def _give(self) -> None:
        with self._lock:
            self._uses -= 1

    def _current_worker(self) -> ThreadPoolExecutor:
        if self._closed:
            raise Closed("the router was closed: make a new StoreRouter")
        if self._worker is None or self._process != os.getpid():  # a fork leaves the thread behind
            from assay.store.proxy import make_worker

            self._worker, self._process = make_worker(), os.getpid()
        return self._worker

    def _shut(self) -> None:
        if self._worker is not None and self._process == os.getpid():
            self._worker.shutdown(wait=True)
        self._worker = None
        if self._store is not None and self._owned:
            self._store.close()
        self._store = None


def _keep(store: Store, faults: list[Fault]) -> None:
    def write(tx: OperationalWriter) -> None:
        for fault in faults:
            add_fault(tx, fault.code, fault.count, fault.first, fault.last, fault.detail)

    database_of(store).operational(write)
