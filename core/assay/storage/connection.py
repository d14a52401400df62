"""Opening SQLite the way the guarantees need it."""

from __future__ import annotations

import os
import sqlite3
import sys

from assay.errors import ForeignDatabase, ReadOnly, StorageFailure

# ruff: noqa: PTH100, PTH103, PTH110, PTH112, PTH114, PTH118, PTH120, PTH202
# pathlib takes longer to import than a record to write.
__all__ = ["configure", "connect", "prepare_file", "uri"]

# Short, because it is waited inside our own deadline: SQLite's handler is not fair (one writer starved for 4.5 s).
_BUSY_MS = 50
# A record changes five pages, and the log takes each of them whole: with 4,096 bytes it grows by two thirds more.
_PAGE = 2_048


def prepare_file(path: str, *, create: bool) -> None:
    """Check the database's file and create its folder: private to the user, and never through a symbolic link.

    Raises:
        StorageFailure: The file is missing, a link, or cannot be created.
    """
    if os.path.islink(path):
        raise StorageFailure(f"{path} is a symbolic link: give the real path of the database")
    if os.path.isdir(path):
        inside = os.path.join(path, "memory.db")
        raise ForeignDatabase(f"{path} is a folder: give the path of a file in it, such as {inside}")
    if os.path.exists(path):
        return
    if not create:
        raise StorageFailure(f"{path} does not exist: create it with `assay init`, or open it without read_only")
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
    except OSError as error:
        raise ReadOnly(f"{path} cannot be created ({error.strerror}): choose a folder that you can write to") from error


def connect(path: str, *, read_only: bool) -> sqlite3.Connection:
    """Open a connection without writing anything, so that a file of another program can still be recognised."""
    if path == ":memory:":
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    if not read_only:
        return _connected(uri(path, "rw"))
    connection = _connected(uri(path, "ro"))
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        connection.close()
        refused = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not refused or not _is_at_rest(path):
            raise
        connection = _connected(f"{uri(path, 'ro')}&immutable=1")
    return connection


def _connected(name: str) -> sqlite3.Connection:
    return sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1000)


def _is_at_rest(path: str) -> bool:
    """Tell whether nobody can be writing: the folder takes no file for SQLite's log, and none waits there."""
    folder, log = os.path.dirname(os.path.abspath(path)), f"{path}-wal"
    if os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return False
    return not os.path.exists(log) or os.path.getsize(log) == 0


def uri(path: str, mode: str) -> str:
    """Name a file as SQLite's URI format wants it, network paths of Windows included."""
    name = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if os.name == "nt":
        name = name.replace("\\", "/")
        name = f"//{name}" if name.startswith("//") else f"/{name}"
    return f"file:{name}?mode={mode}"


def configure(connection: sqlite3.Connection, *, read_only: bool, synchronous: str) -> None:
    """Set every safety switch of a connection."""
    if not read_only:
        connection.execute(f"PRAGMA page_size={_PAGE}")  # of a new file; one that has pages keeps their size
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.executescript(
        "PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
        "PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY;"
    )
    if sys.platform == "darwin":  # fsync does not reach the platter there (SQLite documentation)
        connection.executescript("PRAGMA fullfsync=ON; PRAGMA checkpoint_fullfsync=ON;")
