"""The only way to a store's file: one writer that takes turns with other processes, and pooled readers."""

from __future__ import annotations

import gc
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from assay.errors import Closed, OutcomeUnknown, ReadOnly, StorageFailure
from assay.storage import schema
from assay.storage.connection import configure, connect, prepare_file
from assay.storage.failures import is_contention, translate, translated
from assay.storage.operational import OperationalWriter, confine
from assay.storage.pool import ReaderPool
from assay.storage.reader import Reader
from assay.storage.transaction import Entry, Seal, Transaction
from assay.storage.turns import Turns

__all__ = ["Database"]

T = TypeVar("T")
_MOVE_EVERY = 250  # entries; counted by seq, so that short-lived processes take their turn
_MEMORY = ":memory:"
_instances: weakref.WeakSet[Database] = weakref.WeakSet()


class Database:
    """A store's file.

    Args:
        path: The file, or `:memory:`.
        seal: Writes the entries of a transaction to the log.
        wall: Gives the wall clock in microseconds since 1970.
        ids: Gives 16 random bytes.
        timeout: Seconds that a writer waits for its turn, all waits together.
        synchronous: `FULL`, or `NORMAL` to accept that a power cut loses the last commits.
        initialise: Writes the first rows of a new store.
        keep_older: Whether a copy of an older store is kept before it is brought to this schema.
    """

    _writer: sqlite3.Connection | None
    _pool: ReaderPool
    _checkpoint_due: bool
    erase_pending = False  # whether erased bytes were left in the write-ahead log when the file was opened

    def __init__(
        self,
        path: str,
        *,
        seal: Seal,
        wall: Callable[[], int],
        ids: Callable[[], bytes],
        principal: str,
        initialise: Callable[[Transaction], None],
        timeout: float = 30.0,
        read_only: bool = False,
        synchronous: str = "FULL",
        on_commit: Callable[[list[Entry]], None] | None = None,
        keep_older: bool = True,
    ) -> None:
        self.path = path
        self.read_only = read_only
        self.wall = wall
        self.principal = principal
        self._seal = seal
        self._ids = ids
        self.timeout = timeout
        self._synchronous = synchronous
        self._on_commit = on_commit
        self._keep_older = keep_older
        self._secret = b""
        self._closed = False
        self._generation = 0
        self._turns = Turns(path, f"{path}-q" if path != _MEMORY and not read_only else None)
        self._start()
        try:
            self._open(initialise)
        except BaseException:
            self.close()
            raise
        _instances.add(self)

    # -- reading -----------------------------------------------------------------------------------------------

    @contextmanager
    def read(self) -> Generator[Reader]:
        """Give a snapshot; it is released when the block ends."""
        if self.path == _MEMORY:
            with translated(self.path):
                yield from self._turns.each_alone(self._deadline(), self._shared_reader)
            return
        pool, taken = self._pool, list[sqlite3.Connection | None]()
        try:
            with translated(self.path):
                connection = pool.take(taken, self._deadline())
                connection.execute("BEGIN")
                yield Reader(connection, self._secret)
        finally:
            if taken:
                try:
                    if taken[0] is not None and pool is self._pool:  # the parent's, after a fork
                        taken[0].rollback()
                finally:
                    pool.give(taken[0])
                if pool.closed:
                    pool.close()

    # -- writing -----------------------------------------------------------------------------------------------

    def mutate(self, fn: Callable[[Transaction], T]) -> T:
        """Run a change in one transaction with its audit entries; return after it is durable.

        Raises:
            Busy: Another writer held the store until the deadline; nothing was written.
            OutcomeUnknown: The disk failed while the commit was being written.
        """
        return self._write(lambda connection: self._change(connection, fn))

    def operational(self, fn: Callable[[OperationalWriter], T], *, durable: bool = False) -> T:
        """Write operational rows, which the log does not cover; other tables are refused.

        Args:
            durable: Whether they, and all that was committed before, survive a power cut under `NORMAL` as well.
        """

        def confined(connection: sqlite3.Connection) -> tuple[T, list[Entry]]:
            try:
                connection.set_authorizer(confine)
                return fn(OperationalWriter(connection, self._secret, self.wall())), []
            finally:
                connection.set_authorizer(None)

        if not durable or self._synchronous == "FULL":
            return self._write(confined)
        self._set_synchronous("FULL")  # its commit flushes the write-ahead log, with every commit before it
        try:
            return self._write(confined)
        finally:
            self._set_synchronous(self._synchronous)

    def truncate_log(self) -> bool:
        """Empty the write-ahead log, so that erased bytes are gone; False when a reader still pins it."""
        if self.path == _MEMORY or self.read_only:
            return True

        def truncate(connection: sqlite3.Connection) -> bool:
            busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            return not busy

        with translated(self.path):
            return self._in_turn(self._deadline(), truncate)

    def vacuum(self) -> None:
        """Write the file anew: pages that SQLite has split or merged may keep stale bytes that nothing points to."""
        if self.path != _MEMORY:
            with translated(self.path):
                self._in_turn(self._deadline(), lambda connection: connection.execute("VACUUM"))

    def replace(self, source: str, size: int) -> None:
        """Let the content of another file take the place of this one's; `size` and errors are those of `copy_into`."""
        from assay.storage.copying import copy_into

        deadline = self._deadline()
        with translated(self.path):
            self._in_turn(deadline, lambda connection: copy_into(source, connection, size, deadline))

    def close(self) -> None:
        """Close every connection; the last process to close empties the write-ahead log."""
        if self._closed:
            return
        self._closed = True
        self._pool.close()
        # A change that is going on in another thread ends first.
        self._turns.alone(self._deadline(), self._close_writer)
        _instances.discard(self)

    # -- inside ------------------------------------------------------------------------------------------------

    def _shared_reader(self) -> Reader:
        return Reader(self._writer_connection(), self._secret)

    def _close_writer(self) -> None:
        if self._writer is not None:
            # Closing may checkpoint, which must not meet another process's commit. When the queue cannot be had,
            # another process has the file open, and then closing does not checkpoint.
            with suppress(StorageFailure):
                self._turns.queue.acquire(time.monotonic() + min(1.0, self.timeout))
            self._writer.close()
            self._writer = None
        self._turns.queue.close()

    def _set_synchronous(self, mode: str) -> None:
        with translated(self.path):
            self._in_turn(self._deadline(), lambda connection: connection.execute(f"PRAGMA synchronous={mode}"))

    def _start(self) -> None:
        """Set the state that belongs to this process; a child of a fork starts again."""
        self._writer = None
        self._pool = ReaderPool(lambda: self._connect(self._deadline()), self.path)
        self._checkpoint_due = False
        self._turns.restart()

    def _open(self, initialise: Callable[[Transaction], None]) -> None:
        if self.path != _MEMORY:
            prepare_file(self.path, create=not self.read_only)
        with translated(self.path):
            connection = self._connect(self._deadline())
            if self.read_only:
                self._pool.adopt(connection)
            else:
                self._writer = connection
            found = schema.version(connection, self.path)
            if found == 0:
                if self.read_only:
                    raise StorageFailure(f"{self.path} is empty: create the store first, without read_only")
                self._write(lambda writer: self._create(writer, initialise))
            schema.check(connection, self.path)
            self._secret = Reader(connection, b"").meta("secret")
            if 0 < found < schema.SCHEMA_VERSION and not self.read_only:
                self._migrate(found)
            pending = connection.execute("SELECT EXISTS(SELECT 1 FROM pending_erase)").fetchone()[0]
            self.erase_pending = bool(pending) and not self.read_only

    def _migrate(self, found: int) -> None:
        from assay.storage.migrating import step

        for to in range(found + 1, schema.SCHEMA_VERSION + 1):
            keep = self._keep_older and to == found + 1
            self._write(partial(step, self.path, to, self._change, keep))

    def _connect(self, deadline: float) -> sqlite3.Connection:
        connection = connect(self.path, read_only=self.read_only)
        try:
            found = schema.version(connection, self.path)
            while True:  # entering WAL mode needs the file for itself for a moment
                try:
                    configure(connection, read_only=self.read_only, synchronous=self._synchronous)
                    if self.read_only and found:
                        schema.lend(connection, found)
                    return connection
                except sqlite3.OperationalError as error:
                    if not is_contention(error) or time.monotonic() > deadline:
                        raise
                    time.sleep(_jitter(0.02))
        except BaseException:
            connection.close()
            raise

    def _create(
        self, connection: sqlite3.Connection, initialise: Callable[[Transaction], None]
    ) -> tuple[None, list[Entry]]:
        if schema.version(connection, self.path) > 0:
            return None, []  # another process was first
        schema.create(connection)
        self._secret = os.urandom(32)
        connection.execute("INSERT INTO meta VALUES('secret', ?)", (self._secret,))
        connection.execute("INSERT INTO head VALUES(1, 0, 0, x'', x'')")
        connection.execute("INSERT INTO index_state VALUES(1, 0, 0, 0, 0, 0)")
        return self._change(connection, initialise)

    def _change(self, connection: sqlite3.Connection, fn: Callable[[Transaction], T]) -> tuple[T, list[Entry]]:
        tx = Transaction(connection, self._secret, wall=self.wall(), principal=self.principal, ids=self._ids)
        result = fn(tx)
        if tx.entries:
            self._seal(tx)
        return result, tx.entries

    def _write(self, fn: Callable[[sqlite3.Connection], tuple[T, list[Entry]]]) -> T:
        """Commit what a function writes, and tell of the entries that it gives with its result."""
        if self.read_only:
            raise ReadOnly(f"{self.path} was opened read-only: open it without read_only to write")
        deadline = self._deadline()
        result, entries = self._in_turn(deadline, lambda connection: self._commit_change(connection, deadline, fn))
        if self._on_commit is not None and entries:
            self._on_commit(entries)
        return result

    def _commit_change(
        self,
        connection: sqlite3.Connection,
        deadline: float,
        fn: Callable[[sqlite3.Connection], tuple[T, list[Entry]]],
    ) -> tuple[T, list[Entry]]:
        generation = self._generation
        try:
            with translated(self.path):
                self._begin(connection, deadline)
                result, entries = fn(connection)
                if generation != self._generation:
                    raise StorageFailure("the process was forked inside a change: only the parent can commit it")
                self._commit(connection, entries)
        finally:
            if generation == self._generation:
                connection.rollback()  # nothing is left to undo after a commit
        self._checkpoint_due |= bool(entries) and entries[0].seq // _MOVE_EVERY != (entries[-1].seq + 1) // _MOVE_EVERY
        if self._checkpoint_due:
            self._checkpoint(connection)
        return result, entries

    def _begin(self, connection: sqlite3.Connection, deadline: float) -> None:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                if not is_contention(error) or time.monotonic() > deadline:
                    raise translate(error, self.path) from error
                time.sleep(_jitter(0.01))
            else:
                # A newer version may have migrated the file since it was opened.
                if connection.execute("PRAGMA user_version").fetchone()[0] != schema.SCHEMA_VERSION:
                    schema.version(connection, self.path)
                return

    def _commit(self, connection: sqlite3.Connection, written: list[Entry]) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if is_contention(error) or getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
                raise
            refs = tuple(change.ref for entry in written for change in entry.changes)
            raise OutcomeUnknown(
                f"{self.path}: {error} while committing; reopen the store to see what it holds", refs
            ) from error

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        try:
            _, frames, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error:
            return  # the commit stands; a later one tries again
        self._checkpoint_due = frames != moved

    def _in_turn(self, deadline: float, use: Callable[[sqlite3.Connection], T]) -> T:
        """Let `use` have the writer, while no other thread and no other process writes."""
        return self._turns.queued(deadline, lambda: use(self._writer_connection()))

    def _writer_connection(self) -> sqlite3.Connection:
        if self._closed:
            raise Closed(f"{self.path} was closed: open a new Store")
        if self._writer is None:
            with translated(self.path):
                self._writer = self._connect(self._deadline())
        return self._writer

    def _deadline(self) -> float:
        return time.monotonic() + self.timeout

    def abandon(self) -> list[Any]:
        """Forget, in a child of a fork, the connections of the parent; give them so that they stay referenced."""
        inherited = [connection for connection in (self._writer, *self._pool.members) if connection is not None]
        self._start()
        self._generation += 1
        return inherited


def _jitter(most: float) -> float:
    """Give a random wait, so that those who wait for one lock do not meet again."""
    return most * (1 + os.urandom(1)[0]) / 256


def _after_fork_in_child() -> None:
    """Leave the parent's connections alone: not even closing them is safe (SQLite, "How To Corrupt")."""
    inherited: list[Any] = [connection for database in list(_instances) for connection in database.abandon()]
    if inherited:
        inherited.append(inherited)  # a cycle that the frozen collector never visits, so nothing closes them
        gc.freeze()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
