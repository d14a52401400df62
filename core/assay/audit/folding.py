"""A flood of equal refusals is one audit entry; those after it are counted, and the next entry says how many."""

from __future__ import annotations

import json
from typing import Any

from assay.model.episode import JsonValue
from assay.storage import pending_rows
from assay.storage.transaction import Transaction

__all__ = ["folded", "repeats"]

_COUNTER = "refused:"
_FLOOD_US = 60_000_000


def folded(tx: Transaction, ref: str) -> dict[str, JsonValue]:
    """Give, for the next audit entry of a wrap, how many refusals were folded since its last one."""
    count = pending_rows.unfold(tx, _COUNTER + ref)
    return {"folded": count} if count else {}


def repeats(tx: Transaction, row: dict[str, Any], rules: set[str]) -> bool:
    """Tell whether a refusal is one more for the same rules within a minute; if so, count it instead of an entry."""
    detail: dict[str, Any] = json.loads(row["detail"])
    same = rules == {rule for rule, _ in detail.get("refused", ())}
    if not same or tx.now - detail.get("refused_at", 0) >= _FLOOD_US:
        return False
    pending_rows.fold(tx, _COUNTER + row["id"])
    return True
