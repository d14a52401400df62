"""Bringing an older store to the schema of this code: a copy is kept first, and each version is one transaction."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from assay.storage import schema
from assay.storage.connection import connect
from assay.storage.copying import copy_to
from assay.storage.reader import Reader
from assay.storage.transaction import Entry, Transaction

__all__ = ["kept_name", "step"]

_log = logging.getLogger("assay.storage")
Change = Callable[[sqlite3.Connection, Callable[[Transaction], Entry]], tuple[Entry, list[Entry]]]


def step(
    path: str, to: int, change: Change, keep: bool, connection: sqlite3.Connection
) -> tuple[Entry | None, list[Entry]]:
    """Go up by one version, inside the caller's transaction, and give the entry that says so.

    Args:
        change: Seals an audit entry in that transaction.
        keep: Whether a copy of the store is kept before.

    Raises:
        ForeignDatabase: The tables are not those of the version before.
    """
    if schema.version(connection, path) >= to:
        return None, []  # another process was first
    schema.check(connection, path)
    data: dict[str, str | int] = {"from": to - 1, "to": to}
    if keep:
        kept = kept_name(path, to - 1, Reader(connection, b"").head().size)
        # By a second connection: SQLite copies nothing from one that has begun a change.
        with closing(connect(path, read_only=True)) as reader:
            copy_to(reader, kept)
        data["backup"] = Path(kept).name
        _log.warning("%s: schema %d becomes %d; the store as it was is kept as %s", path, to - 1, to, kept)
    schema.advance(connection, to)
    schema.check(connection, path)
    return change(connection, lambda tx: tx.entry("migrate", actor="host", data=data))


def kept_name(path: str, version: int, entries: int) -> str:
    """Name the copy that is kept: the same for the same state, so that an interrupted migration leaves one only."""
    return f"{path}.v{version}-backup-{entries}"
