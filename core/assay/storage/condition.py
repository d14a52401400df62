"""The condition of a store's file, told without opening it as a store: also when it is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from assay.errors import ForeignDatabase
from assay.storage.connection import connect, prepare_file
from assay.storage.failures import translated
from assay.storage.reader import Reader
from assay.storage.schema import version

__all__ = ["SAFE_VERSION", "Condition", "dangling", "examine", "schema_of"]

# Older libraries can corrupt a file when a checkpoint of its log races a commit (SQLite, "WAL-reset bug").
SAFE_VERSION = (3, 51, 3)

# Links to what is neither held nor remembered as erased.
_DANGLING = """
SELECT 'edge ' || edge.id || ' to ' || end FROM (
  SELECT id, source AS end FROM edge UNION ALL SELECT id, target FROM edge) AS edge
 WHERE end LIKE 'ep\\_%' ESCAPE '\\' AND NOT EXISTS(SELECT 1 FROM episode WHERE id = end)
   AND NOT EXISTS(SELECT 1 FROM tombstone WHERE id = end)
UNION ALL
SELECT 'evidence ' || id || ' of ' || belief FROM evidence
 WHERE NOT EXISTS(SELECT 1 FROM belief WHERE belief.id = evidence.belief)
LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Condition:
    """What SQLite says of a file.

    Attributes:
        pages: Problems that its check of every page found.
        dangling: Links that lead nowhere.
        schema: Its schema version.
        log_bytes: Size of the write-ahead log.
    """

    sqlite: tuple[int, ...]
    schema: int
    pages: tuple[str, ...]
    dangling: tuple[str, ...]
    log_bytes: int


def examine(path: str, *, limit: int = 20) -> Condition:
    """Check the pages and the links of a file, at most `limit` problems of each.

    Raises:
        StorageFailure: It cannot be opened, is no store, or is damaged beyond reading.
    """
    prepare_file(path, create=False)
    log = Path(f"{path}-wal")
    with translated(path), closing(connect(path, read_only=True)) as connection:
        found = version(connection, path)
        if not found:
            raise ForeignDatabase(f"{path} is empty: create a store with `assay init`, or restore a backup")
        pages = tuple(str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({int(limit)})"))
        sound = pages == ("ok",)
        loose = dangling(Reader(connection, b""), limit) if sound else ()
    return Condition(
        sqlite=sqlite3.sqlite_version_info,
        schema=found,
        pages=() if sound else pages,
        dangling=loose,
        log_bytes=log.stat().st_size if log.exists() else 0,
    )


def schema_of(reader: Reader) -> int:
    """Give the schema version of the file."""
    found: int = reader.execute("PRAGMA user_version")[0][0]
    return found


def dangling(reader: Reader, limit: int) -> tuple[str, ...]:
    """Name links that lead to what the store neither holds nor remembers as erased."""
    return tuple(row[0] for row in reader.execute(_DANGLING, (limit,)))
