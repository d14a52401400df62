"""Sealing the receipts of briefings: rows outside the log, which a checkpoint binds to it by a digest."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from assay.model.episode import JsonValue
from assay.storage import audit_rows
from assay.storage.reader import Reader
from assay.storage.session_rows import KEPT_RECEIPTS, counted
from assay.storage.tables import Value
from assay.storage.transaction import Transaction

__all__ = ["check_seal", "seal_receipts"]

_COUNTER = "sealed_receipts"  # the number of the newest receipt that is sealed


def seal_receipts(tx: Transaction) -> dict[str, JsonValue]:
    """Bind the receipts since the last seal; give what the entry says of them, nothing when there are none."""
    after = counted(tx, _COUNTER)
    last, digest, _ = _digest(audit_rows.receipts(tx, after))
    if not last:
        return {}
    audit_rows.set_counter(tx, _COUNTER, last)
    return {"receipts": {"after": after, "last": last, "sha256": digest}}


def check_seal(reader: Reader, seal: dict[str, Any], before: int | None) -> str | None:
    """Compare the receipts with a seal; say what is wrong, if something is.

    Args:
        before: The newest receipt of the seal before this one, if that is known.
    """
    after, last = seal["after"], seal["last"]
    newest = audit_rows.newest_receipt(reader)
    dropped = newest - KEPT_RECEIPTS  # the oldest make room
    _, digest, count = _digest(audit_rows.receipts(reader, after) if last > dropped else (), last)
    if before not in (None, after) or newest < last or count != max(0, last - max(after, dropped)):
        return f"receipts {after + 1} to {last} were sealed, and are not all there"
    if after >= dropped and digest != seal["sha256"]:
        return f"receipts {after + 1} to {last} are not those that were sealed"
    return None


def _digest(rows: Iterable[tuple[Value, ...]], end: int | None = None) -> tuple[int, str, int]:
    """Give number of the last, SHA-256 and count of some receipts."""
    digest, last, count = sha256(), 0, 0
    for row in rows:
        if end is not None and int(row[0] or 0) > end:
            break
        last, count = int(row[0] or 0), count + 1
        digest.update(json.dumps(row, ensure_ascii=True).encode() + b"\n")
    return last, digest.hexdigest(), count
