"""Entries of the log in their final form.

The stored bytes of an entry are what is hashed, so no canonical form has to be rebuilt to check it. An entry
holds no content: only salted commitments to the rows that it wrote.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as _quoted
from typing import Any

from assay.audit.merkle import HASH_BYTES, append_leaf, leaf_hash
from assay.storage import audit_rows
from assay.storage.failures import damaged
from assay.storage.reader import Head
from assay.storage.transaction import Change, Entry, Transaction

__all__ = ["OPERATIONS", "Sealer", "decode", "encode", "seal"]

TILE = 256
CHECKPOINT_US = 15 * 60 * 1_000_000

# Every operation that replay understands; an entry with another one fails verification.
OPERATIONS = frozenset(
    {
        "init", "record", "supersede", "undo", "set_key", "un_echo", "quarantine", "erase", "set_trust",
        "prepare", "save", "refused", "cancel", "abandon", "section", "revert",
        "result", "belief", "authority", "setting", "schema",
        "migrate", "restore", "import", "checkpoint", "key",
    }
)  # fmt: skip


_CANONICAL = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, check_circular=False).encode
_PARSE = json.JSONDecoder().raw_decode


def encode(entry: Entry) -> bytes:
    """Write an entry as compact JSON with sorted keys, each in its place: every record writes one.

    `rows` lists what was written: table, `+` new, `~` changed or `-` removed, id, commitment. `wall` is kept
    where the wall clock was behind the log's own time.
    """
    rows = ",".join(map(_row, entry.written.values()))
    data = f'"data":{_CANONICAL(dict(entry.data))},' if entry.data else ""
    trust = "" if entry.trust is None else f'"trust":"{entry.trust.value}",'
    wall = f',"wall":{entry.wall}' if entry.wall < entry.ts else ""
    text = (
        f'{{"actor":{_quoted(entry.actor)},{data}"op":"{entry.op}","principal":{_quoted(entry.principal)},'
        f'"rows":[{rows}],"seq":{entry.seq},{trust}"ts":{entry.ts}{wall}}}'
    )
    return text.encode("utf-8", "surrogatepass")


def _row(change: Change) -> str:
    commitment = "null" if change.commitment is None else _quoted(change.commitment)
    return f'["{change.table}","{change.action}",{_quoted(change.ref)},{commitment}]'


def decode(stored: bytes) -> dict[str, Any]:
    """Read a stored entry.

    Raises:
        ValueError: It is none.
    """
    text = stored.decode("utf-8", "surrogatepass")
    entry: dict[str, Any]
    entry, end = _PARSE(text)
    if end < len(text):
        raise ValueError("something stands behind an entry")
    return entry


def seal(tx: Transaction) -> Head:
    """Write the entries of a transaction to the log, with the tiles that they fill; give the new head.

    Raises:
        Damaged: The head cannot be that of its log.
        ValueError: An operation that replay could not check.
    """
    size, _, frontier = tx.base
    if len(frontier) != HASH_BYTES * size.bit_count():
        raise damaged("the head of the audit log", f"its frontier is none of {size} entries")
    sealed: list[bytes] = []
    for entry in tx.entries:
        if entry.op not in OPERATIONS:
            raise ValueError(f"unknown operation {entry.op!r}: replay could not check it")
        sealed.append(encode(entry))
        frontier = append_leaf(frontier, size, leaf_hash(sealed[-1]))
        size += 1
    head = Head(size, tx.entries[-1].ts, frontier)
    audit_rows.append(tx, sealed, head)
    if size // TILE != tx.base.size // TILE or tx.entries[-1].op == "migrate":
        from assay.audit.proofs.tiles import extend

        extend(tx, size)
    return head


class Sealer:
    """Seals the changes of a store, and notes when a checkpoint is due.

    Attributes:
        due: Whether one is: behind a wrap, and when the newest is older than 15 minutes of the log's own time.
    """

    def __init__(self) -> None:
        self.due = False
        self._newest = 0

    def __call__(self, tx: Transaction) -> None:
        """Seal a transaction."""
        head = seal(tx)
        if head.ts - self._newest >= CHECKPOINT_US:  # as far as this process knows; another may have made one
            newest = audit_rows.newest_checkpoint(tx)
            self._newest = newest[0] if newest else json.loads(next(iter(audit_rows.entries(tx)))[1])["ts"]
        self.due = self.due or head.ts - self._newest >= CHECKPOINT_US or tx.entries[-1].op == "save"

    def settle(self, ts: int) -> None:
        """Note that a checkpoint was made, or tried."""
        self.due, self._newest = False, ts
