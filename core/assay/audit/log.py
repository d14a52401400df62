"""Entries of the log in their final form.

The stored bytes of an entry are what is hashed, so no canonical form has to be rebuilt to check it. An entry
holds no content: only salted commitments to the rows that it wrote.
"""

from __future__ import annotations

import json
from typing import Any

from assay.audit.merkle import append_leaf, fold, leaf_hash, pack, unpack
from assay.storage.reader import Head
from assay.storage.transaction import Entry

__all__ = ["OPERATIONS", "encode", "seal"]

# Every operation that replay understands; an entry with another one fails verification.
OPERATIONS = frozenset(
    {
        "init", "record", "supersede", "undo", "set_key", "un_echo", "quarantine", "erase", "set_trust",
        "prepare", "save", "refused", "cancel", "abandon", "section", "revert",
        "result", "belief", "authority", "setting", "schema",
    }
)  # fmt: skip


_CANONICAL = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def encode(entry: Entry) -> bytes:
    """Write an entry as compact JSON with sorted keys.

    `rows` lists what was written: table, `+` new, `~` changed or `-` removed, id, commitment. `wall` is kept
    where the wall clock was behind the log's own time.
    """
    record: dict[str, Any] = {
        "actor": entry.actor,
        "op": entry.op,
        "principal": entry.principal,
        "rows": [[change.table, change.action, change.ref, change.commitment] for change in entry.changes],
        "seq": entry.seq,
        "ts": entry.ts,
    }
    if entry.trust is not None:
        record["trust"] = entry.trust.value
    if entry.data:
        record["data"] = dict(entry.data)
    if entry.wall < entry.ts:
        record["wall"] = entry.wall
    return _CANONICAL(record).encode("utf-8", "surrogatepass")


def seal(head: Head, entries: list[Entry]) -> tuple[list[bytes], Head]:
    """Append entries to the log: give their bytes and the new head."""
    frontier, size, ts = unpack(head.frontier), head.size, head.ts
    sealed: list[bytes] = []
    for entry in entries:
        if entry.op not in OPERATIONS:
            raise ValueError(f"unknown operation {entry.op!r}: replay could not check it")
        sealed.append(encode(entry))
        frontier = append_leaf(frontier, size, leaf_hash(sealed[-1]))
        size += 1
        ts = entry.ts
    return sealed, Head(size, ts, fold(frontier), pack(frontier))
