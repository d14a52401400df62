"""Long changes that need no more memory than short ones."""

from __future__ import annotations

from assay.audit.log import seal
from assay.storage.transaction import Transaction

__all__ = ["settle"]


def settle(tx: Transaction, *, heard: bool) -> None:
    """Write the entries so far to the log and forget them; the transaction goes on and commits all at its end.

    Args:
        heard: Whether somebody is told of each entry after the commit, which takes them all in memory.
    """
    if tx.entries and not heard:
        tx.base = seal(tx)
        tx.entries = []
