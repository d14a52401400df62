"""Replaying the log against the live rows: whatever was edited outside the engine shows here."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import Any

from assay.audit.log import OPERATIONS
from assay.audit.merkle import append_leaf, fold, leaf_hash, pack
from assay.errors import StorageFailure
from assay.model.status import Verification
from assay.storage import audit_rows
from assay.storage.failures import translated
from assay.storage.reader import Reader
from assay.storage.tables import AUDITED

__all__ = ["verify"]


def verify(reader: Reader, *, limit: int = 20) -> Verification:
    """Check every page, entry, hash and row of the store.

    Each live row must equal the last entry that wrote it, and no row may be missing, extra, or older than its
    last entry. Derived rows (the search index) and operational ones are not covered. Runs in constant memory.

    Args:
        limit: How many problems are named.
    """
    replay = _Replay(reader, limit)
    try:
        with translated("the store"):
            replay.problems += audit_rows.integrity(reader, limit)
            replay.run()
    except StorageFailure as error:
        replay.problems.append(str(error))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        replay.problems.append(f"behind entry {replay.size}: cannot be read ({type(error).__name__}: {error})")
    return Verification(not replay.problems, replay.size, fold(replay.frontier).hex(), tuple(replay.problems[:limit]))


class _Replay:
    def __init__(self, reader: Reader, limit: int) -> None:
        self.reader = reader
        self.limit = limit
        self.problems: list[str] = []
        self.size = 0
        self.ts = 0
        self.frontier: tuple[bytes, ...] = ()
        self.expected: Counter[str] = Counter()
        self.matched: Counter[str] = Counter()

    def run(self) -> None:
        for seq, stored in audit_rows.entries(self.reader):
            if seq != self.size:
                self.problems.append(f"entry {self.size} is missing")
                return
            self._entry(seq, stored)
            self.frontier = append_leaf(self.frontier, self.size, leaf_hash(stored))
            self.size += 1
            if len(self.problems) >= self.limit:
                return
        self._head()
        for table in AUDITED:
            found = audit_rows.row_count(self.reader, table)
            if found != self.expected[table]:
                self.problems.append(f"table {table} has {found} rows, the log accounts for {self.expected[table]}")
            elif found != self.matched[table]:
                self.problems.append(f"table {table}: {found - self.matched[table]} rows are not what the log wrote")

    def _entry(self, seq: int, stored: bytes) -> None:
        entry: dict[str, Any] = json.loads(stored)
        if entry["seq"] != seq:
            self.problems.append(f"entry {seq} says that it is {entry['seq']}")
        if entry["op"] not in OPERATIONS:
            self.problems.append(f"entry {seq} has the unknown operation {entry['op']!r}")
        if (seq == 0) != (entry["op"] == "init"):
            self.problems.append(f"entry {seq}: only the first entry may be `init`")
        if seq == 0 and entry["data"]["store"] != self.reader.meta("store_id").decode():
            self.problems.append("entry 0 belongs to another store")
        if seq == 0 and entry["data"]["secret"] != sha256(self.reader.meta("secret")).hexdigest():
            self.problems.append("the secret of the store was changed")
        if entry["ts"] < self.ts:
            self.problems.append(f"entry {seq} is older than the one before it")
        self.ts = entry["ts"]
        for table, action, ref, committed in entry["rows"]:
            self._row(seq, table, action, ref, committed)

    def _row(self, seq: int, table: str, action: str, ref: str, committed: str | None) -> None:
        if table not in AUDITED or action not in ("+", "~", "-"):
            self.problems.append(f"entry {seq} changes the unknown table {table!r}")
            return
        live = audit_rows.live_row(self.reader, table, ref)
        self.expected[table] += {"+": 1, "~": 0, "-": -1}[action]
        if live is None:
            return  # removed later, or missing: the count of the table tells
        if live[0] < seq:
            self.problems.append(f"{table} {ref} is as of entry {live[0]}, but entry {seq} {_VERBS[action]} it")
        elif live[0] == seq:
            if action == "-" or live[1] != committed:
                self.problems.append(f"{table} {ref} is not what entry {seq} wrote")
            else:
                self.matched[table] += 1

    def _head(self) -> None:
        head = self.reader.head()
        if head.size != self.size:
            self.problems.append(f"the head counts {head.size} entries, the log has {self.size}")
        if head.ts != self.ts:
            self.problems.append("the time of the head is not that of the last entry")
        if head.root != fold(self.frontier) or head.frontier != pack(self.frontier):
            self.problems.append("the Merkle root computed from the entries is not that of the head")


_VERBS = {"+": "wrote", "~": "changed", "-": "removed"}
