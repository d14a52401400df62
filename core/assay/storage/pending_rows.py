"""Erasures whose bytes may still be in the write-ahead log, and faults that were counted."""

from __future__ import annotations

from assay.storage.database import OperationalWriter
from assay.storage.reader import Reader

__all__ = ["clear", "faults", "note", "pending"]


def note(tx: Reader, ref: str, asked: int) -> None:
    """Note that the bytes of an erased item may still be in the write-ahead log."""
    tx.execute("INSERT OR REPLACE INTO pending_erase VALUES(?, ?)", (ref, asked))


def pending(reader: Reader) -> int:
    """Count the erasures that are not finished."""
    count: int = reader.execute("SELECT count(*) FROM pending_erase")[0][0]
    return count


def clear(tx: OperationalWriter) -> None:
    """Forget the pending erasures: the write-ahead log was emptied behind them."""
    tx.execute("DELETE FROM pending_erase")


def faults(reader: Reader) -> dict[str, int]:
    """Give how often each fault of an adapter was counted."""
    return {row[0]: row[1] for row in reader.execute("SELECT code, count FROM fault ORDER BY code")}
