"""The one place where errors of the database become errors of Assay."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import wraps
from json import JSONDecodeError
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from assay.errors import Busy, Damaged, ForeignDatabase, InvalidInput, ReadOnly, StorageFailure

__all__ = ["damaged", "is_contention", "of_a_row", "translate", "translated"]

P = ParamSpec("P")
R = TypeVar("R", bound=Mapping[str, Any])
T = TypeVar("T")

_FULL = "the disk is full: nothing was written; free some space and try again"
_REFUSED = "nothing was written: the disk may be full or failing; check it and try again"


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
    if code == sqlite3.SQLITE_IOERR:
        return StorageFailure(f"{path}: {error}; {_REFUSED}")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return ReadOnly(f"{path} cannot be written: check the permissions of the file and its folder")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StorageFailure(f"{path} cannot be opened: check that the folder exists and can be written")
    if code == sqlite3.SQLITE_NOTADB:
        return ForeignDatabase(f"{path} is not an SQLite database: choose another path")
    if code == sqlite3.SQLITE_CORRUPT:
        return damaged(path, error)
    return StorageFailure(f"{path}: {error}; nothing was written")


class translated:  # a class, because a generator takes longer to enter
    """Translate what SQLite raises inside the block, and what its rows raise when they cannot be read."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise the typed error in place of the other."""
        if error is None:
            return
        if isinstance(error, sqlite3.Error):
            raise translate(error, self._path) from error
        if isinstance(error, (UnicodeEncodeError, OverflowError)):
            raise _unstorable(error) from error
        if isinstance(error, (UnicodeDecodeError, JSONDecodeError)):
            raise damaged(self._path, error) from error


def of_a_row(build: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Make a function that turns a row into an object say which row cannot be one: nobody has written it so."""

    @wraps(build)
    def built(row: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return build(row, *args, **kwargs)
        except (ValueError, TypeError, OverflowError) as error:
            raise damaged(f"the row {row['id']}", error) from error

    return built


def damaged(what: str, error: object) -> Damaged:
    """Say what is damaged, and what to do."""
    return Damaged(f"{what} is damaged: run `assay doctor`, then restore the newest backup ({error})")


def _unstorable(error: UnicodeEncodeError | OverflowError) -> InvalidInput:
    """Turn what SQLite cannot take as a value into a typed error."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput("argument", "a text holds half of a surrogate pair: decode it as UTF-8 first")
    return InvalidInput("argument", "a number is too large: at most 63 bits can be kept")


def _primary(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
