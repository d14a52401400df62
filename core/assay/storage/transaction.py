"""One change of the store: its rows, and the audit entries that commit to them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from assay.model.episode import JsonValue
from assay.model.labels import Trust
from assay.model.refs import make_id
from assay.storage.failures import damaged
from assay.storage.reader import Reader
from assay.storage.tables import AUDITED, Row, Value

__all__ = ["SALT_BYTES", "Change", "Entry", "Seal", "Transaction", "commitment", "keyed"]


class Change(NamedTuple):
    """One row written (`+` new, `~` changed) or removed (`-`) by an entry."""

    table: str
    action: str
    ref: str
    commitment: str | None


@dataclass(slots=True)
class Entry:
    """What the log will say of one operation."""

    op: str
    seq: int
    ts: int
    wall: int
    actor: str
    principal: str
    trust: Trust | None
    data: Mapping[str, JsonValue]
    written: dict[tuple[str, str], Change] = field(default_factory=dict[tuple[str, str], Change])

    @property
    def changes(self) -> list[Change]:
        """Give the rows in the order in which they were first written."""
        return list(self.written.values())

    def note(self, change: Change) -> None:
        """Add a change; several changes of one row in one entry are one."""
        place = (change.table, change.ref)
        before = self.written.get(place)
        if before is not None and before.action == "+":
            if change.action == "-":
                del self.written[place]
                return
            change = Change(change.table, "+", change.ref, change.commitment)
        self.written[place] = change


_INSERTS = {
    table: f"INSERT INTO {table}(id,{','.join(columns)},salt,seq) VALUES({','.join('?' * (len(columns) + 3))})"
    for table, columns in AUDITED.items()
}
SALT_BYTES = 32
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
_INNER_REST, _OUTER_REST = (bytes([pad] * (64 - SALT_BYTES)) for pad in (0x36, 0x5C))


def _compact_encoder() -> Callable[[list[Value]], str]:
    """Make what writes values as JSON without spaces, bytes in hex; a JSONEncoder makes its C part at every call."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=bytes.hex).encode
    parts = make(None, bytes.hex, json.encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda values: "".join(parts(values, 0))


_COMPACT = _compact_encoder()


def commitment(table: str, ref: str, values: Iterable[Value], salt: bytes) -> str:
    """Commit to a row: HMAC-SHA256 under its salt of its columns as compact JSON, in hex.

    Without the salt, which dies with the row, the commitment confirms no guess of the content.
    """
    if len(salt) != SALT_BYTES:
        raise damaged(f"the row {ref}", "its salt is none of ours")
    text = _COMPACT([table, ref, *values])
    return keyed(salt, text.encode("utf-8", "surrogatepass"))


def keyed(salt: bytes, row: bytes) -> str:
    """Compute HMAC-SHA256 (RFC 2104) in hex from its parts, in less than half of the time of the library's own.

    Args:
        salt: The key, of `SALT_BYTES`.
    """
    inner = sha256(salt.translate(_INNER) + _INNER_REST + row).digest()
    return sha256(salt.translate(_OUTER) + _OUTER_REST + inner).hexdigest()


class Transaction(Reader):
    """Write access within one transaction; `entry` must be called before the first row is written."""

    def __init__(
        self, connection: sqlite3.Connection, secret: bytes, *, wall: int, principal: str, ids: Callable[[], bytes]
    ) -> None:
        super().__init__(connection, secret)
        head = self.head()
        self.base = head
        self.wall = wall
        self.now = max(wall, head.ts)
        self.principal = principal
        self.entries: list[Entry] = []
        self.numbered = 0  # the newest episode of this transaction
        self._ids = ids

    def entry(
        self, op: str, *, actor: str, trust: Trust | None = None, data: Mapping[str, JsonValue] | None = None
    ) -> Entry:
        """Begin the log entry that the following rows belong to."""
        seq = self.base.size + len(self.entries)
        entry = Entry(op, seq, self.now, self.wall, actor, self.principal, trust, data or {})
        self.entries.append(entry)
        return entry

    def new_id(self, prefix: str) -> str:
        """Mint an id that sorts by time."""
        return make_id(prefix, self.now, self._ids())

    def insert(self, table: str, ref: str, row: Row) -> None:
        """Add a row; every column of the table must be given."""
        salt = os.urandom(SALT_BYTES)
        values = [row[name] for name in AUDITED[table]]
        self._note(Change(table, "+", ref, commitment(table, ref, values, salt)))
        self._connection.execute(_INSERTS[table], (ref, *values, salt, self.entries[-1].seq))

    def update(self, table: str, ref: str, values: Row) -> None:
        """Change some columns of a row that exists."""
        row = self.get(table, ref)
        if row is None:
            raise LookupError(f"{table} {ref} does not exist")
        new = {**row, **values}
        committed = commitment(table, ref, [new[name] for name in AUDITED[table]], row["salt"])
        self._note(Change(table, "~", ref, committed))
        sets = ",".join(f"{name}=?" for name in values)
        self._connection.execute(
            f"UPDATE {table} SET {sets},seq=? WHERE id=?", (*values.values(), self.entries[-1].seq, ref)
        )

    def delete(self, table: str, ref: str) -> None:
        """Remove a row, and the salt that could confirm a guess of it."""
        self._note(Change(table, "-", ref, None))
        self._connection.execute(f"DELETE FROM {table} WHERE id=?", (ref,))

    def put_setting(self, name: str, value: JsonValue) -> None:
        """Write a setting row, whether or not it exists."""
        row: dict[str, Value] = {"value": json.dumps(value, ensure_ascii=False, sort_keys=True)}
        if self.get("setting", name) is None:
            self.insert("setting", name, row)
        else:
            self.update("setting", name, row)

    def put_meta(self, key: str, value: bytes) -> None:
        """Write a constant of the store, once."""
        self._connection.execute("INSERT INTO meta VALUES(?, ?)", (key, value))

    def write(self, sql: str, parameters: tuple[Value, ...] = ()) -> None:
        """Run a statement of this room on a derived table (search index, pending erasures)."""
        self._connection.execute(sql, parameters)

    def write_many(self, sql: str, rows: Iterable[tuple[Value, ...]]) -> None:
        """Run a statement of this room on a derived table once for each row of values."""
        self._connection.executemany(sql, rows)

    def _note(self, change: Change) -> None:
        if not self.entries:
            raise RuntimeError("a row was written before the transaction began an audit entry")
        self.entries[-1].note(change)
        if change.table == "setting":
            self._settings = None


Seal = Callable[[Transaction], object]
