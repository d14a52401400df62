"""Copies of a store by SQLite's online interface: of one committed state, whatever is being written meanwhile."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

from assay.errors import Busy, Conflict
from assay.storage import files
from assay.storage.connection import uri

__all__ = ["copy_into", "copy_to"]

_PATIENCE = 30.0


def copy_to(connection: sqlite3.Connection, target: str) -> None:
    """Write what a connection sees into one new file, readable without files beside it.

    Args:
        connection: One that writes nothing: SQLite copies no unfinished change.
    """
    part = f"{target}.part"
    os.close(files.create(part))
    try:
        with closing(sqlite3.connect(uri(part, "rw"), uri=True, isolation_level=None)) as copy:
            connection.backup(copy, progress=_until(time.monotonic() + _PATIENCE))
            copy.execute("PRAGMA journal_mode=DELETE")
        files.place(part, target)
    except BaseException:
        files.discard(part)
        raise


def copy_into(source: str, connection: sqlite3.Connection, size: int, deadline: float) -> None:
    """Let the content of a file take the place of what a connection writes to, in one transaction.

    Other connections read the old content to the end of their snapshot, and the new one behind it.

    Args:
        source: A file that nobody else uses.
        size: Number of entries that the log must still have.
        deadline: Value of `time.monotonic()` after which to give up.

    Raises:
        Busy: Another program held the store until the deadline.
        Conflict: The log has moved on.
    """
    if connection.execute("SELECT size FROM head").fetchone()[0] != size:
        raise Conflict("the store was written to meanwhile: nothing was replaced; try again")
    page, rebuilt = _page_size(connection), f"{source}.pages"
    try:
        with closing(sqlite3.connect(uri(source, "rw"), uri=True, isolation_level=None)) as original:
            if _page_size(original) != page:  # SQLite copies only pages of the same size into a file that has a log
                os.close(files.create(rebuilt))
                original.execute("PRAGMA journal_mode=DELETE")
                original.execute(f"PRAGMA page_size={page}")
                original.execute("VACUUM INTO ?", (rebuilt,))
                source = rebuilt
        with closing(sqlite3.connect(uri(source, "ro"), uri=True, isolation_level=None)) as original:
            original.backup(connection, progress=_until(deadline), sleep=0.05)
    finally:
        files.discard(rebuilt)


def _page_size(connection: sqlite3.Connection) -> int:
    size: int = connection.execute("PRAGMA page_size").fetchone()[0]
    return size


def _until(deadline: float) -> Callable[[int, int, int], None]:
    """Give what ends a copy that waits for a lock: the sqlite3 module by itself waits for ever."""

    def check(status: int, remaining: int, total: int) -> None:
        if status != sqlite3.SQLITE_DONE and time.monotonic() > deadline:
            raise Busy("another program held the store until the deadline: nothing was written; try again")

    return check
