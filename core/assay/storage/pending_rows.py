"""Erasures whose bytes may still be in the write-ahead log, and what is counted instead of being written each time."""

from __future__ import annotations

from collections.abc import Sequence

from assay.storage.operational import OperationalWriter
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = ["clear", "faults", "fold", "note", "noted", "pending", "unfold"]


def note(tx: Transaction, ref: str, asked: int) -> None:
    """Note that the bytes of an erased item may still be in the write-ahead log."""
    tx.write("INSERT OR REPLACE INTO pending_erase VALUES(?, ?)", (ref, asked))


def pending(reader: Reader) -> int:
    """Count the erasures that are not finished."""
    count: int = reader.execute("SELECT count(*) FROM pending_erase")[0][0]
    return count


def noted(reader: Reader) -> list[str]:
    """Give the ids of the erasures that are not finished."""
    return [row[0] for row in reader.execute("SELECT id FROM pending_erase")]


def clear(tx: OperationalWriter, ids: Sequence[str]) -> None:
    """Forget pending erasures: the files were cleared behind them."""
    for ref in ids:
        tx.execute("DELETE FROM pending_erase WHERE id = ?", (ref,))


def faults(reader: Reader) -> dict[str, int]:
    """Give how often each fault of an adapter was counted."""
    return {row[0]: row[1] for row in reader.execute("SELECT code, count FROM fault ORDER BY code")}


def fold(tx: Transaction, name: str) -> None:
    """Count, outside the log, what the next entry of its kind will sum up."""
    tx.write("INSERT INTO counter VALUES(?, 1) ON CONFLICT(name) DO UPDATE SET value = value + 1", (name,))


def unfold(tx: Transaction, name: str) -> int:
    """Give what was counted since the last time, and begin anew."""
    rows = tx.execute("SELECT value FROM counter WHERE name = ?", (name,))
    if rows:
        tx.write("DELETE FROM counter WHERE name = ?", (name,))
    return rows[0][0] if rows else 0
