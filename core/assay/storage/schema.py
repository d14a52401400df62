"""The schema, version by version; and recognising what is not ours.

`schema_1.sql` holds the tables of the first version, `schema_N.sql` what version N adds. A new store runs them all, an
older one those it lacks, so that both end with the same tables to the letter. A version only adds: the commitments of
the log are made over the columns of a row.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator

from assay.errors import ForeignDatabase, NewerSchema

__all__ = ["SCHEMA_VERSION", "advance", "check", "create", "digest", "lend", "version"]

SCHEMA_VERSION = 4
_APPLICATION_ID = 0x41535359  # "ASSY"
# The digest of each schema version: a file with altered tables, foreign triggers or views is refused.
_DIGESTS = {
    1: "124a32214ba5de33ffcf158ea5c40c45d14f9c01eb384a670db5354de5327742",
    2: "c2f4795d0820b3817c78260d5d446553c219cfd6a9d4c0e14ce0f83bf894f421",
    3: "e7617262de7de65d3621cc08fdd76b744694649cec3a9bce52bd92cbe996fa84",
    4: "90e1db29be6913f4a7b717845e63225cccf281a6629e1ad6bb26c40408fe829d",
}


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
    for number in range(1, SCHEMA_VERSION + 1):
        advance(connection, number)
    connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")


def advance(connection: sqlite3.Connection, to: int) -> None:
    """Add what a version adds to the one before it, inside the caller's transaction."""
    for statement in _statements(to):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version={int(to)}")


def lend(connection: sqlite3.Connection, found: int) -> None:
    """Let a connection that may not write see the tables that an older file lacks: empty, and in memory."""
    for number in range(found + 1, SCHEMA_VERSION + 1):
        for statement in _statements(number):
            if "CREATE TABLE" in statement:  # an index is only missed for its speed
                connection.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))


def check(connection: sqlite3.Connection, path: str) -> None:
    """Compare the schema with the one that this code creates for the version of the file.

    Raises:
        ForeignDatabase: Something was altered, added or removed.
    """
    if digest(connection) != _DIGESTS.get(version(connection, path)):
        raise ForeignDatabase(
            f"{path}: its tables, triggers or views were altered by another program; restore a backup"
        )


def digest(connection: sqlite3.Connection) -> str:
    """Give the SHA-256 of every statement of the schema, in hex."""
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    return hashlib.sha256("\n".join(str(row[0]) for row in rows).encode()).hexdigest()


def _statements(number: int) -> Iterator[str]:
    """Give the statements of a version one by one: `executescript` would commit the caller's transaction."""
    from pathlib import Path

    statement = ""
    for line in Path(__file__).with_name(f"schema_{number}.sql").read_text("utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
