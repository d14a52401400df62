"""The one door from the port to what a store has below its verbs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.episodes.draft import Checked
    from assay.episodes.recording import Written
    from assay.storage.database import Database
    from assay.storage.transaction import Transaction
    from assay.store import Store

__all__ = ["database_of", "record_within"]


def database_of(store: Store) -> Database:
    """Give the database, for the rows of the port that no verb of the store writes: runs, receipts, faults."""
    return store._database  # pyright: ignore[reportPrivateUsage]


def record_within(store: Store, tell: Callable[[Transaction, Callable[[Checked], Written]], list[str]]) -> list[str]:
    """Let a function look at what the store holds and record, all in one transaction."""
    return store._record_within(tell)  # pyright: ignore[reportPrivateUsage]
