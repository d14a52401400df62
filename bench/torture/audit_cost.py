"""What the log costs a record, at `synchronous=FULL` and on disk: beside a store that commits to nothing, in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay import Store
from assay.storage import transaction
from assay.storage.database import Database
from assay.storage.transaction import Transaction

__all__ = ["measure"]

RECORDS = 1_500
LONG = 10_000
_CHECKPOINT_EVERY = 250  # entries between two moves of SQLite's log into the file


def measure(folder: Path, *, long: bool, records: int = 0) -> dict[str, float]:
    """Record in turns into a store as it is and into one without log; give the medians in microseconds."""
    records = records or (LONG if long else RECORDS)
    took: dict[str, list[float]] = {"with": [], "without": []}
    with Store(folder / "with.db") as audited, Store(folder / "without.db") as bare:
        bare._database._seal = _Unsealed(bare._database)
        for number in range(records):
            text = f"event {number}: the pool holds {number * 7 % 1000} connections and the deploy was quiet"
            took["with"].append(_seconds(audited, text))
            with _uncommitted():
                took["without"].append(_seconds(bare, text))
    logged, plain = (statistics.median(times) * 1e6 for times in took.values())
    return {
        "records": records,
        "with_us": round(logged, 1),
        "without_us": round(plain, 1),
        "percent": round((logged / plain - 1) * 100, 1),
    }


def _seconds(store: Store, text: str) -> float:
    begun = time.perf_counter()
    store.record(text, source="ada")
    return time.perf_counter() - begun


class _Unsealed:
    """Stands in for what seals a change: no entry, no hash, no new head."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sealed = 0

    def __call__(self, tx: Transaction) -> None:
        self._sealed += 1
        if self._sealed % _CHECKPOINT_EVERY == 0:  # its log is moved as often as the other's
            self._database._checkpoint_due = True


@contextmanager
def _uncommitted() -> Iterator[None]:
    """Leave out the commitments to rows."""
    real = transaction.commitment
    transaction.commitment = lambda *_: ""
    try:
        yield
    finally:
        transaction.commitment = real
