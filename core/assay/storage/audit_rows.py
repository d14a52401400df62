"""Reading the log and the rows it speaks of, one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.storage.reader import Reader
from assay.storage.tables import AUDITED
from assay.storage.transaction import commitment

__all__ = ["entries", "integrity", "live_row", "mentioning", "row_count"]


def entries(reader: Reader, after: int = -1, limit: int = -1) -> Iterable[tuple[int, bytes]]:
    """Stream (seq, stored bytes) of the entries behind a seq, in order."""
    return reader.stream("SELECT seq, entry FROM audit WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))


def live_row(reader: Reader, table: str, ref: str) -> tuple[int, str] | None:
    """Give (seq, commitment recomputed from the stored bytes) of a row, or None when it is gone."""
    columns = AUDITED[table]
    rows = reader.execute(f"SELECT seq, salt, {','.join(columns)} FROM {table} WHERE id = ?", (ref,))
    if not rows:
        return None
    seq, salt, *values = rows[0]
    return seq, commitment(table, ref, dict(zip(columns, values, strict=True)), salt)


def row_count(reader: Reader, table: str) -> int:
    """Count the rows of an audited table."""
    count: int = reader.execute(f"SELECT count(*) FROM {table}")[0][0]
    return count


def integrity(reader: Reader, limit: int) -> list[str]:
    """Run SQLite's own check of every page; give what it finds."""
    found: list[Any] = [row[0] for row in reader.execute(f"PRAGMA integrity_check({int(limit)})")]
    return [] if found == ["ok"] else [str(problem) for problem in found]


def mentioning(reader: Reader, ref: str, limit: int) -> list[tuple[int, bytes]]:
    """Give (seq, stored bytes) of the entries that name a ref, in order; reads the whole log."""
    rows = reader.execute(
        "SELECT seq, entry FROM audit WHERE instr(entry, CAST(? AS BLOB)) > 0 ORDER BY seq LIMIT ?", (ref, limit)
    )
    return [(row[0], row[1]) for row in rows]
