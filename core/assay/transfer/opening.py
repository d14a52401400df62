"""Opening a store's file by itself: copies, what is being prepared, and what may be damaged."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from assay.audit.log import seal
from assay.errors import StorageFailure
from assay.storage.database import Database
from assay.storage.files import is_file
from assay.storage.transaction import Transaction

__all__ = ["Wall", "open_file", "wall_clock"]

Wall = Callable[[], int]


def wall_clock() -> int:
    """Give the time in microseconds since 1970."""
    return time.time_ns() // 1_000


def open_file(
    path: str,
    *,
    read_only: bool = False,
    principal: str = "transfer",
    wall: Wall = wall_clock,
    timeout: float = 30.0,
    keep_older: bool = False,
) -> Database:
    """Open a file that must be a store already; an older one is brought to the schema of this code, unless read only.

    Args:
        keep_older: Whether a copy is kept of an older one; what is a copy itself needs none.

    Raises:
        StorageFailure: It is missing, empty, not ours, newer, or damaged.
    """
    if not is_file(path):
        raise StorageFailure(f"{path} is no file")
    return Database(
        path, seal=seal, wall=wall, ids=lambda: os.urandom(16), principal=principal, initialise=_refuse,
        read_only=read_only, timeout=timeout, keep_older=keep_older,
    )  # fmt: skip


def _refuse(tx: Transaction) -> None:
    raise StorageFailure("an empty file is no store")
