"""Runs, receipts, faults and counters of the port: operational rows, which hold no content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from assay.storage.operational import OperationalWriter
from assay.storage.reader import Reader

__all__ = [
    "KEPT_RECEIPTS",
    "OpenRun",
    "Receipt",
    "add_fault",
    "add_receipt",
    "another_live",
    "close_run",
    "count",
    "counted",
    "find_open_run",
    "last_activity",
    "open_run",
    "receipts_after",
    "stranger",
]

KEPT_RECEIPTS = 2_000
_MINTED = "rn_"


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that is going on.

    Attributes:
        known: Whether it was opened before.
        previous: When any earlier run of the store was last heard of, microseconds since 1970; 0 for never.
    """

    id: str
    known: bool
    previous: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one briefing showed: full refs, and a fingerprint of each line."""

    number: int
    refs: tuple[str, ...]
    fingerprints: tuple[str, ...]


def open_run(tx: OperationalWriter, session: str, run: str | None, user: str | None) -> OpenRun:
    """Open a run, or go on with the one of this id.

    Without an id one is minted, which no reader of another run can guess, because the fence of its briefings is
    made of it; what the session left open under a minted id counts as abandoned.
    """
    previous = last_activity(tx)
    if run is None:
        tx.execute(
            "UPDATE run SET state='abandoned', ended=? WHERE session=? AND state='open' AND id GLOB ?",
            (tx.now, session, _MINTED + "*"),
        )
        taken = tx.execute("SELECT count(*) FROM run WHERE session=?", (session,))[0][0]
        run = _MINTED + tx.derive(f"run:{taken}:{session}").hex()[:16]
    known = bool(tx.execute("SELECT 1 FROM run WHERE session=? AND id=?", (session, run)))
    tx.execute(
        "INSERT INTO run VALUES(?, ?, ?, 'open', ?, ?, NULL) ON CONFLICT(session, id) DO UPDATE SET"
        " state='open', touched=excluded.touched, ended=NULL",
        (session, run, user, tx.now, tx.now),
    )
    return OpenRun(run, known, previous)


def find_open_run(reader: Reader, session: str, run: str | None) -> str | None:
    """Give the open run of this id, else the newest open run of the session."""
    found = reader.execute(
        "SELECT id FROM run WHERE session=? AND state='open' ORDER BY id = ? DESC, touched DESC LIMIT 1",
        (session, run or ""),
    )
    return found[0][0] if found else None


def another_live(reader: Reader, session: str) -> bool:
    """Tell whether a session other than this one has an open run."""
    return bool(reader.execute("SELECT 1 FROM run WHERE session<>? AND state='open' LIMIT 1", (session,)))


def close_run(tx: OperationalWriter, session: str, run: str, state: str) -> None:
    """Note how a run ended."""
    tx.execute(
        "UPDATE run SET state=?, touched=?, ended=? WHERE session=? AND id=?", (state, tx.now, tx.now, session, run)
    )


def last_activity(reader: Reader) -> int:
    """Give when a run was last opened or closed, in microseconds since 1970; 0 for never."""
    newest: int | None = reader.execute("SELECT max(touched) FROM run")[0][0]
    return newest or 0


def stranger(reader: Reader, user: str) -> str | None:
    """Give a user other than this one who has spoken to the store, or None."""
    found = reader.execute("SELECT user FROM run WHERE user IS NOT NULL AND user <> ? LIMIT 1", (user,))
    return found[0][0] if found else None


def add_receipt(
    tx: OperationalWriter, session: str, run: str | None, refs: Sequence[str], fingerprints: Sequence[str]
) -> None:
    """Note what a briefing showed; the oldest receipts make room."""
    tx.execute(
        "INSERT INTO receipt(session, run, made, refs, fingerprints) VALUES(?, ?, ?, ?, ?)",
        (session, run, tx.now, json.dumps(list(refs)), json.dumps(list(fingerprints))),
    )
    tx.execute("DELETE FROM receipt WHERE id <= (SELECT max(id) FROM receipt) - ?", (KEPT_RECEIPTS,))


def receipts_after(reader: Reader, number: int, limit: int) -> tuple[Receipt, ...]:
    """Give the newest receipts that came after one, oldest first."""
    rows = reader.execute(
        "SELECT id, refs, fingerprints FROM receipt WHERE id > ? ORDER BY id DESC LIMIT ?", (number, limit)
    )
    return tuple(Receipt(row[0], tuple(json.loads(row[1])), tuple(json.loads(row[2]))) for row in reversed(rows))


def add_fault(tx: OperationalWriter, code: str, count: int, first: int, last: int, detail: str) -> None:
    """Add to the count of a fault; `detail` is that of the first one."""
    tx.execute(
        "INSERT INTO fault VALUES(?, ?, ?, ?, ?) ON CONFLICT(code) DO UPDATE SET"
        " count = count + excluded.count, first = min(first, excluded.first), last = max(last, excluded.last)",
        (code, count, first, last, detail),
    )


def count(tx: OperationalWriter, name: str, by: int = 1) -> None:
    """Add to a counter."""
    tx.execute(
        "INSERT INTO counter VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value", (name, by)
    )


def counted(reader: Reader, name: str) -> int:
    """Give the value of a counter."""
    found = reader.execute("SELECT value FROM counter WHERE name = ?", (name,))
    return found[0][0] if found else 0
