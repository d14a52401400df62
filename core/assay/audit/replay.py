"""Replaying entries against the live rows: whatever was edited outside the engine shows here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from assay.model.status import Breach, Verification
from assay.storage import audit_rows
from assay.storage.reader import Reader
from assay.storage.tables import AUDITED
from assay.storage.transaction import SALT_BYTES, keyed

__all__ = ["Findings", "Replay"]

_TOGETHER = 256
_Written = tuple[int, str, str, str | None]  # seq, action, id, commitment
_VERBS = {"+": "wrote", "~": "changed", "-": "removed"}


class Findings:
    """What is wrong, as far as it is named."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.problems: list[str] = []
        self.breaches: set[Breach] = set()
        self.notes: list[str] = []

    @property
    def enough(self) -> bool:
        """Tell whether no more is to be named."""
        return len(self.problems) >= self.limit

    def verification(self, size: int, root: bytes) -> Verification:
        """Give the whole, for a log of this size and root."""
        named = tuple(self.problems[: self.limit])
        return Verification(not named, size, root.hex(), named, frozenset(self.breaches), tuple(self.notes))

    def add(self, problem: str, breach: Breach = Breach.TAMPERED) -> None:
        """Name something that is wrong."""
        self.breaches.add(breach)
        self.problems.append(problem if breach is Breach.TAMPERED else f"{breach.name}: {problem}")


class Replay:
    """Compares rows with the entries that wrote them, as the entries come by in order."""

    def __init__(self, reader: Reader, found: Findings) -> None:
        self._reader = reader
        self._found = found
        self._rows = {table: audit_rows.LiveRows(reader, table) for table in AUDITED}
        self._waiting: dict[str, list[_Written]] = {table: [] for table in AUDITED}
        self._matched = dict.fromkeys(AUDITED, 0)
        self._absent: dict[tuple[str, str], int] = {}  # written, and not there: a later entry must have removed it

    def take(self, seq: int, rows: Sequence[Sequence[Any]]) -> None:
        """Take what an entry says that it wrote."""
        if len(rows) > 1 and len({(row[0], row[2]) for row in rows}) != len(rows):
            self._found.add(f"entry {seq} names a row twice")
        for table, action, ref, committed in rows:
            if table not in AUDITED or action not in _VERBS:
                self._found.add(f"entry {seq} changes the unknown table {table!r}")
                continue
            waiting = self._waiting[table]
            waiting.append((seq, action, ref, committed))
            if len(waiting) == _TOGETHER:
                self._compare(table)

    def finish(self, *, whole: bool) -> None:
        """Name the rows that are missing and, when every entry came by, those that no entry wrote."""
        for table in AUDITED:
            self._compare(table)
        for (table, ref), seq in self._absent.items():
            self._found.add(f"{table} {ref}, which entry {seq} wrote, is not there")
        for table, matched in self._matched.items() if whole else ():
            if audit_rows.row_count(self._reader, table) != matched:
                self._strangers(table)

    def _compare(self, table: str) -> None:
        """Compare what waits of a table: its rows are read together."""
        waiting = self._waiting[table]
        live = self._rows[table].get([written[2] for written in waiting])
        matched = 0
        for written, row in zip(waiting, live, strict=True):
            seq, action, _, committed = written
            if row and row[1] == seq and action != "-" and _commits(row, committed):
                matched += 1
            else:
                self._row(table, row, written)
        self._matched[table] += matched
        waiting.clear()

    def _row(self, table: str, live: tuple[Any, ...] | None, written: _Written) -> None:
        """Say what is wrong with a row that is not what an entry wrote, unless a later one changed it."""
        seq, action, ref, _ = written
        if live is None:
            if action == "-":
                self._absent.pop((table, ref), None)
            else:
                self._absent[table, ref] = seq
        elif live[1] < seq:
            self._found.add(f"{table} {ref} is as of entry {live[1]}, but entry {seq} {_VERBS[action]} it")
        elif live[1] == seq:
            self._found.add(f"{table} {ref} is not what entry {seq} wrote")
            self._matched[table] += 1

    def _strangers(self, table: str) -> None:
        """Name the rows that their entry does not speak of."""
        for ref, seq in audit_rows.rows(self._reader, table):
            written = [
                json.loads(stored)["rows"] for at, stored in audit_rows.entries(self._reader, seq - 1, 1) if at == seq
            ]
            if not any((row[0], row[2]) == (table, ref) for rows in written for row in rows):
                self._found.add(f"{table} {ref} is there, but entry {seq} did not write it")
            if self._found.enough:
                return


def _commits(row: tuple[Any, ...], committed: str | None) -> bool:
    """Tell whether an entry commits to a row as it is; a salt with more zeros behind it would be the same key."""
    return len(row[2]) == SALT_BYTES and keyed(row[2], row[3]) == committed
