"""The rows of the log, its tiles and its checkpoints, and the rows that its entries speak of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from assay.storage.operational import OperationalWriter
from assay.storage.reader import Head, Reader
from assay.storage.tables import AUDITED, Value
from assay.storage.transaction import Transaction

__all__ = [
    "LiveRows", "add_checkpoint", "append", "checkpoints", "entries", "integrity", "keeps_tiles", "kept_root",
    "live_rows", "mentioning", "newest_checkpoint", "newest_receipt", "postings", "put_tile", "receipts", "row_count",
    "rows", "set_counter", "tile", "tile_count",
]  # fmt: skip

_CACHE_KB = 65_536
_AHEAD = 512  # rows
# The committed columns that are no text and no number, as JSON holds them.
_COLUMNS = {name: f"iif({name} IS NULL, NULL, lower(hex({name})))" for name in ("text_hash", "key_hash")}


def append(tx: Transaction, sealed: Sequence[bytes], head: Head) -> None:
    """Write entries behind the others, and the head that covers them: its root is folded by who asks for it."""
    tx.write_many("INSERT INTO audit VALUES(?, ?)", enumerate(sealed, head.size - len(sealed)))
    tx.write("UPDATE head SET size=?, ts=?, root=x'', frontier=? WHERE one=1", head)


def kept_root(reader: Reader) -> bytes:
    """Give the root that stands beside the head where an older version wrote last, or b""."""
    return bytes(reader.execute("SELECT root FROM head")[0][0])


def entries(reader: Reader, after: int = -1, limit: int = -1) -> Iterable[tuple[int, bytes]]:
    """Stream (seq, stored bytes) of the entries behind a seq, in order."""
    return reader.stream("SELECT seq, entry FROM audit WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))


def mentioning(reader: Reader, ref: str, limit: int) -> list[tuple[int, bytes]]:
    """Give (seq, stored bytes) of the entries that name a ref, in order; reads the whole log."""
    rows = reader.execute(
        "SELECT seq, entry FROM audit WHERE instr(entry, CAST(? AS BLOB)) > 0 ORDER BY seq LIMIT ?", (ref, limit)
    )
    return [(row[0], row[1]) for row in rows]


# -- tiles and checkpoints -----------------------------------------------------------------------------------------


def keeps_tiles(reader: Reader) -> bool:
    """Tell whether the file has tiles: one of schema 1 that was opened read-only has none."""
    return int(reader.execute("PRAGMA user_version")[0][0]) > 1


def tile(reader: Reader, level: int, number: int) -> bytes:
    """Give the hashes of a tile, or b""."""
    found = reader.execute("SELECT hashes FROM tile WHERE level = ? AND n = ?", (level, number))
    return found[0][0] if found else b""


def tile_count(reader: Reader, level: int | None = None) -> int:
    """Count the tiles of a level, which are written in order; or all tiles."""
    if level is None:
        count: int = reader.execute("SELECT count(*) FROM tile")[0][0]
        return count
    newest: int | None = reader.execute("SELECT max(n) FROM tile WHERE level = ?", (level,))[0][0]
    return 0 if newest is None else newest + 1


def put_tile(tx: Transaction, level: int, number: int, hashes: bytes) -> None:
    """Write a tile, or the longer form of one."""
    tx.write(
        "INSERT INTO tile VALUES(?, ?, ?) ON CONFLICT(level, n) DO UPDATE SET hashes = excluded.hashes",
        (level, number, hashes),
    )


def add_checkpoint(tx: OperationalWriter, size: int, made: int, note: str) -> None:
    """Keep a checkpoint."""
    tx.execute("INSERT OR REPLACE INTO checkpoint VALUES(?, ?, ?)", (size, made, note))


def checkpoints(reader: Reader, after: int = 0) -> Iterable[tuple[int, str]]:
    """Stream (size, note) of the checkpoints of more entries than some, in order."""
    return reader.stream("SELECT size, note FROM checkpoint WHERE size > ? ORDER BY size", (after,))


def newest_checkpoint(reader: Reader) -> tuple[int, str] | None:
    """Give (when it was made, note) of the newest checkpoint, if there is one."""
    found = reader.execute("SELECT made, note FROM checkpoint ORDER BY size DESC LIMIT 1")
    return (found[0][0], found[0][1]) if found else None


def receipts(reader: Reader, after: int) -> Iterable[tuple[Value, ...]]:
    """Stream the receipts behind a number, whole and in order."""
    return reader.stream("SELECT * FROM receipt WHERE id > ? ORDER BY id", (after,))


def newest_receipt(reader: Reader) -> int:
    """Give the number of the newest receipt, 0 when there is none."""
    return int(reader.execute("SELECT coalesce(max(id), 0) FROM receipt")[0][0])


def set_counter(tx: Transaction, name: str, value: int) -> None:
    """Set a counter, in the transaction that makes it true."""
    tx.write("INSERT INTO counter VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value=excluded.value", (name, value))


# -- the rows that entries speak of --------------------------------------------------------------------------------


def live_rows(reader: Reader, table: str, refs: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Give (id, seq, salt, what is committed as compact JSON) of those rows that are there, by id; of at most 900."""
    return {row[0]: row for row in reader.stream(f"{_live(table)} WHERE id IN ({','.join('?' * len(refs))})", refs)}


class LiveRows:
    """The rows of a table, for who asks in the order in which they were made.

    Episodes are numbered in that order: a scan gives them in half of the time. Other ids are looked up.
    """

    def __init__(self, reader: Reader, table: str) -> None:
        self._reader = reader
        self._table = table
        self._scan = iter(reader.stream(_live(table)) if table == "episode" else ())
        self._ahead: dict[str, tuple[Any, ...]] = {}  # scanned, and not asked for yet

    def get(self, refs: Sequence[str]) -> list[tuple[Any, ...] | None]:
        """Give of each ref what `live_rows` does, or None; of at most 900."""
        ahead = self._ahead
        if len(ahead) < _AHEAD:
            ahead.update([(row[0], row) for row in islice(self._scan, len(refs))])
        found = [ahead.pop(ref, None) for ref in refs]
        if missing := [ref for ref, row in zip(refs, found, strict=True) if row is None]:
            known = live_rows(self._reader, self._table, missing)
            found = [row or known.get(ref) for ref, row in zip(refs, found, strict=True)]
        return found


def _live(table: str) -> str:
    """Write a query: SQLite writes the JSON of a row in the time in which Python is given its columns."""
    columns = ",".join(_COLUMNS.get(name, name) for name in AUDITED[table])
    return f"SELECT id, seq, salt, CAST(json_array('{table}', id, {columns}) AS BLOB) FROM {table}"


def rows(reader: Reader, table: str) -> Iterable[tuple[str, int]]:
    """Stream (id, seq) of the rows of an audited table."""
    return reader.stream(f"SELECT id, seq FROM {table}")


def row_count(reader: Reader, table: str) -> int:
    """Count the rows of an audited table."""
    return int(reader.execute(f"SELECT count(*) FROM {table}")[0][0])


def postings(reader: Reader) -> Iterable[tuple[Any, ...]]:
    """Stream (segment, term, episodes, places, chunks, frequencies, lengths, map) of the posting lists, as packed.

    They come in the order in which they were made, which is that of the segments.
    """
    return reader.stream(
        "SELECT segment, term, df, docs, chunks, freqs, lengths, coalesce(bits, x'') FROM posting"
        " LEFT JOIN place_map ON posting = id ORDER BY id"
    )


def integrity(reader: Reader, limit: int) -> list[str]:
    """Run SQLite's own check of every page; give what it finds."""
    reader.execute(f"PRAGMA cache_size=-{_CACHE_KB}")  # the rows of an index lie anywhere in its table
    try:
        found: list[Any] = [row[0] for row in reader.execute(f"PRAGMA integrity_check({int(limit)})")]
    finally:
        reader.execute("PRAGMA cache_size=-2000")  # what SQLite begins with
    return [] if found == ["ok"] else [str(problem) for problem in found]
