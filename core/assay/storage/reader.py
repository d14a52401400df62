"""A consistent snapshot of the store, and the plain questions that can be asked of it."""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from assay.model.settings import Settings
from assay.storage.failures import damaged
from assay.storage.tables import AUDITED, Value

__all__ = ["Head", "Reader"]

_MAX_VARIABLES = 900  # below the 999 of old SQLite builds
Filter = Mapping[str, Value | Sequence[Value]]


class Head(NamedTuple):
    """The newest state of the audit log: number of entries, time of the last, frontier of the Merkle tree."""

    size: int
    ts: int
    frontier: bytes


class Reader:
    """Read access within one transaction; every answer comes from the same committed state."""

    def __init__(self, connection: sqlite3.Connection, secret: bytes) -> None:
        self._connection = connection
        self._secret = secret
        self._settings: Settings | None = None

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        """Run a query of this room and give all rows."""
        return self._connection.execute(sql, parameters).fetchall()

    def stream(self, sql: str, parameters: Sequence[Value] = ()) -> Iterable[tuple[Any, ...]]:
        """Run a query of this room and give its rows one by one."""
        return self._connection.execute(sql, parameters)

    def get(self, table: str, ref: str) -> dict[str, Any] | None:
        """Give one row of an audited table, or None."""
        rows = self.find(table, {"id": ref})
        return rows[0] if rows else None

    def find(
        self, table: str, where: Filter | None = None, *, order: str = "", limit: int = -1
    ) -> list[dict[str, Any]]:
        """Give the rows whose columns equal a value, or one of several.

        Args:
            order: A column, optionally followed by `DESC`.
            limit: At most so many rows; -1 for all.
        """
        columns = ("id", *AUDITED[table], "salt", "seq")
        found: list[dict[str, Any]] = []
        for clause, parameters in _clauses(where or {}):
            tail = f"{f' ORDER BY {order}' if order else ''} LIMIT {int(limit)}"
            sql = f"SELECT {','.join(columns)} FROM {table}{clause}{tail}"
            found += [dict(zip(columns, row, strict=True)) for row in self.execute(sql, parameters)]
        return found

    def count(self, table: str, where: Filter | None = None) -> int:
        """Count the rows that `find` would give."""
        return sum(
            self.execute(f"SELECT count(*) FROM {table}{clause}", parameters)[0][0]
            for clause, parameters in _clauses(where or {})
        )

    def head(self) -> Head:
        """Give the newest state of the audit log."""
        return Head(*self._only("SELECT size, ts, frontier FROM head"))

    def meta(self, key: str) -> bytes:
        """Give a constant of the store, such as its id."""
        value: bytes = self._only("SELECT value FROM meta WHERE key = ?", key)[0]
        return value

    def _only(self, sql: str, *parameters: str) -> tuple[Any, ...]:
        """Give a row that every store has."""
        rows = self.execute(sql, parameters)
        if not rows:
            raise damaged("the store's own row", f"it is gone: {sql}")
        return rows[0]

    @property
    def settings(self) -> Settings:
        """Give the operator's settings as of this snapshot."""
        if self._settings is None:
            self._settings = _settings(*self.execute("SELECT id, value FROM setting"))
        return self._settings

    def setting(self, name: str) -> Any:
        """Give the value of any setting row, such as `baton`, or None."""
        row = self.get("setting", name)
        return None if row is None else json.loads(row["value"])

    def copy_to(self, target: str) -> None:
        """Write this snapshot into one new file: private, and durable when this returns.

        Raises:
            ReadOnly: The folder cannot be written.
        """
        from assay.storage.copying import copy_to

        copy_to(self._connection, target)

    def derive(self, label: str) -> bytes:
        """Derive 32 bytes from the store's secret: equal for equal labels, unguessable without the file."""
        return _derived(self._secret, label)

    def keyed_digest(self, label: str, text: str) -> bytes:
        """Give 16 bytes of HMAC-SHA256 of a text under a derived key: equal for equal texts in this store alone."""
        digest = _keyed(self._secret, label).copy()
        digest.update(text.encode())
        return digest.digest()[:16]

    def fence(self, label: str) -> str:
        """Give the 64-bit name of the fence of one run or wrap: 13 base32 characters."""
        value = int.from_bytes(self.derive(f"fence:{label}")[:8], "big")
        return "".join("abcdefghijklmnopqrstuvwxyz234567"[(value >> shift) & 31] for shift in range(60, -1, -5))


@lru_cache(maxsize=64)
def _derived(secret: bytes, label: str) -> bytes:
    return hmac.digest(secret, label.encode("utf-8", "surrogatepass"), "sha256")


@lru_cache(maxsize=16)
def _keyed(secret: bytes, label: str) -> hmac.HMAC:
    """Give an HMAC that has taken in its key: every record digests its text."""
    return hmac.new(_derived(secret, label), digestmod="sha256")


@lru_cache(maxsize=16)
def _settings(*rows: tuple[str, str]) -> Settings:
    """Read the settings from their rows; every transaction asks, and they hardly ever change."""
    names = Settings.__dataclass_fields__
    return Settings(**{name: json.loads(value) for name, value in rows if name in names})


def _clauses(where: Filter) -> list[tuple[str, tuple[Value, ...]]]:
    """Build WHERE clauses; a long list of values becomes several queries."""
    parts: list[str] = []
    parameters: list[Value] = []
    many: tuple[str, Sequence[Value]] | None = None
    for column, value in where.items():
        if value is None:
            parts.append(f"{column} IS NULL")
        elif isinstance(value, (str, int, bytes)):
            parts.append(f"{column} = ?")
            parameters.append(value)
        elif many is None:
            many = (column, value)
        else:
            parts.append(f"{column} IN ({','.join('?' * len(value))})")
            parameters += value
    if many is None:
        return [(f" WHERE {' AND '.join(parts)}" if parts else "", tuple(parameters))]
    column, values = many
    clauses: list[tuple[str, tuple[Value, ...]]] = []
    for start in range(0, len(values), _MAX_VARIABLES):
        chunk = values[start : start + _MAX_VARIABLES]
        condition = " AND ".join([*parts, f"{column} IN ({','.join('?' * len(chunk))})"])
        clauses.append((f" WHERE {condition}", (*parameters, *chunk)))
    return clauses
