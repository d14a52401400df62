"""The one door from the port to the database of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.storage.database import Database
    from assay.store import Store

__all__ = ["database_of"]


def database_of(store: Store) -> Database:
    """Give the database, for the rows of the port that no verb of the store writes: runs, receipts, faults."""
    return store._database  # pyright: ignore[reportPrivateUsage]
