"""Every row of the audited tables, one by one and in an order that does not depend on the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.storage.reader import Reader
from assay.storage.tables import AUDITED

__all__ = ["ORDER", "columns", "newest_entries", "rows"]

# The tables in the order in which links lead back, and the column that their rows are sorted by.
ORDER = {
    "setting": "id", "episode": "n", "tombstone": "n", "edge": "id", "belief": "id", "evidence": "id", "wrap": "n",
    "document": "version", "draft": "id", "result": "id",
}  # fmt: skip


def rows(reader: Reader, table: str) -> Iterator[dict[str, Any]]:
    """Stream the rows of an audited table, without what belongs to this file alone (salt and seq)."""
    names = ("id", *AUDITED[table])
    for row in reader.stream(f"SELECT {','.join(names)} FROM {table} ORDER BY {ORDER[table]}, id"):
        yield dict(zip(names, row, strict=True))


def columns(reader: Reader, table: str) -> dict[str, tuple[bool, bool]]:
    """Give for each column whether it holds whole numbers, and whether it may be empty."""
    found = reader.execute(f"PRAGMA table_info({table})")
    return {row[1]: (row[2] == "INTEGER", not (row[3] or row[5])) for row in found if row[1] in AUDITED[table]}


def newest_entries(reader: Reader) -> Iterator[bytes]:
    """Stream the stored bytes of the log's entries, the newest first."""
    return (row[0] for row in reader.stream("SELECT entry FROM audit ORDER BY seq DESC"))
