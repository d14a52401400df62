"""The one place where errors of the database become errors of Assay."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from assay.errors import Busy, Damaged, ForeignDatabase, InvalidInput, ReadOnly, StorageFailure

__all__ = ["is_contention", "translate", "translated", "unstorable"]

_FULL = "the disk is full: nothing was written; free some space and try again"


def is_contention(error: sqlite3.Error) -> bool:
    """Tell whether another connection merely held a lock."""
    return _primary(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def translate(error: sqlite3.Error, path: str) -> StorageFailure:
    """Turn an error of SQLite into a typed error that says what to do."""
    code = _primary(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(f"{path} is locked by another writer: nothing was written; try again")
    if code == sqlite3.SQLITE_FULL:
        return StorageFailure(f"{path}: {_FULL}")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return ReadOnly(f"{path} cannot be written: check the permissions of the file and its folder")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StorageFailure(f"{path} cannot be opened: check that the folder exists and can be written")
    if code == sqlite3.SQLITE_NOTADB:
        return ForeignDatabase(f"{path} is not an SQLite database: choose another path")
    if code == sqlite3.SQLITE_CORRUPT:
        return Damaged(f"{path} is damaged: run `assay doctor`, then restore the newest backup ({error})")
    return StorageFailure(f"{path}: {error}; nothing was written")


@contextmanager
def translated(path: str) -> Generator[None]:
    """Translate what SQLite raises inside the block."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error


def unstorable(error: UnicodeEncodeError | OverflowError) -> InvalidInput:
    """Turn what SQLite cannot take as a value into a typed error."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput("argument", "a text holds half of a surrogate pair: decode it as UTF-8 first")
    return InvalidInput("argument", "a number is too large: at most 63 bits can be kept")


def _primary(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF
