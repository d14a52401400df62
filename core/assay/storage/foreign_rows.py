"""Reading the tables of another program's database; nothing is written into it, and nothing in it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from assay.storage.connection import connect
from assay.storage.failures import translated

__all__ = ["foreign_rows", "foreign_tables"]


def foreign_tables(path: str) -> frozenset[str]:
    """Name the tables of a database.

    Raises:
        StorageFailure: It is none, or cannot be read.
    """
    with translated(path), closing(connect(path, read_only=True)) as connection:
        return frozenset(row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


def foreign_rows(path: str, table: str) -> Iterator[dict[str, Any]]:
    """Stream the rows of a table, in the order in which they were written.

    Args:
        table: A name of this program's own choice, never one that a file gave.
    """
    with translated(path), closing(connect(path, read_only=True)) as connection:
        connection.execute("PRAGMA trusted_schema=OFF")  # views and generated columns run no functions
        rows = connection.execute(f"SELECT * FROM {table} ORDER BY rowid")
        names = [column[0] for column in rows.description]
        for row in rows:
            yield dict(zip(names, row, strict=True))
