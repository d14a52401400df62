"""Creating the schema, and recognising what is not ours."""

from __future__ import annotations

import hashlib
import sqlite3

from assay.errors import ForeignDatabase, NewerSchema

__all__ = ["SCHEMA_VERSION", "check", "create", "digest", "version"]

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x41535359  # "ASSY"
# The digest of each schema version: a file with altered tables, foreign triggers or views is refused.
_DIGESTS = {1: "124a32214ba5de33ffcf158ea5c40c45d14f9c01eb384a670db5354de5327742"}


def version(connection: sqlite3.Connection, path: str) -> int:
    """Give the schema version of the file, 0 for an empty one.

    Raises:
        ForeignDatabase: The file holds tables that are not ours.
        NewerSchema: The file was written by a newer version.
    """
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    ours: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if ours != _APPLICATION_ID:
        if found or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise ForeignDatabase(f"{path} is a database of another program: choose another path")
        return 0
    if found > SCHEMA_VERSION:
        raise NewerSchema(path, found, SCHEMA_VERSION)
    return found


def create(connection: sqlite3.Connection) -> None:
    """Create the tables, inside the caller's transaction."""
    from pathlib import Path

    script = Path(__file__).with_name(f"schema_{SCHEMA_VERSION}.sql").read_text(encoding="utf-8")
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
    connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def check(connection: sqlite3.Connection, path: str) -> None:
    """Compare the schema with the one this code created.

    Raises:
        ForeignDatabase: Something was altered, added or removed.
    """
    if digest(connection) != _DIGESTS[SCHEMA_VERSION]:
        raise ForeignDatabase(
            f"{path}: its tables, triggers or views were altered by another program; restore a backup"
        )


def digest(connection: sqlite3.Connection) -> str:
    """Give the SHA-256 of every statement of the schema, in hex."""
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    return hashlib.sha256("\n".join(row[0] for row in rows).encode()).hexdigest()
