"""Writing what the log does not cover, and nothing else."""

from __future__ import annotations

import sqlite3

from assay.storage.reader import Reader
from assay.storage.tables import OPERATIONAL

__all__ = ["OperationalWriter", "confine"]


class OperationalWriter(Reader):
    """Write access to the operational tables alone; an authorizer refuses any other."""

    def __init__(self, connection: sqlite3.Connection, secret: bytes, now: int) -> None:
        super().__init__(connection, secret)
        self.now = now


def confine(action: int, table: str | None, _column: str | None, _database: str | None, _trigger: str | None) -> int:
    """Decide, for SQLite, what an operational change may do."""
    writes = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
    if action in writes and table not in OPERATIONAL:
        return sqlite3.SQLITE_DENY
    structural = action in (sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_TRANSACTION)
    return sqlite3.SQLITE_DENY if structural else sqlite3.SQLITE_OK
