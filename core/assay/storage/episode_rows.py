"""Queries on episodes and the edges between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from assay.model.refs import make_id
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = [
    "already",
    "between",
    "by_ids",
    "by_numbers",
    "by_text",
    "counted_at",
    "edges_from",
    "edges_to",
    "in_quarantine",
    "keyed",
    "last_number",
    "matching_prefix",
    "neighbours",
    "newest",
    "next_number",
    "of_session",
    "page",
    "select",
    "sessions",
    "texts",
]

_COLUMNS = (
    "id,n,kind,happened,recorded,origin,source,session,run,trust,success,state_key,tags,metadata,idem,"
    "verdict,key_hash,quarantined"
)
_CHUNK = 900
_NEWEST = "max(ifnull((SELECT max(n) FROM episode), 0), ifnull((SELECT max(n) FROM tombstone), 0))"


def select(
    reader: Reader, condition: str, parameters: Sequence[Any], tail: str = "", *, content: bool = True
) -> list[dict[str, Any]]:
    """Give episode rows that satisfy a condition of this room; with their contents, unless thousands are looked at."""
    columns = f"{_COLUMNS},content" if content else _COLUMNS
    names = columns.split(",")
    rows = reader.execute(f"SELECT {columns} FROM episode WHERE {condition} {tail}", parameters)
    return [dict(zip(names, row, strict=True)) for row in rows]


def by_ids(reader: Reader, ids: Sequence[str], *, content: bool = True) -> list[dict[str, Any]]:
    """Give the live episodes among some full ids, in no order."""
    found: list[dict[str, Any]] = []
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        found += select(reader, f"id IN ({','.join('?' * len(chunk))})", chunk, content=content)
    return found


def by_numbers(reader: Reader, numbers: Sequence[int], *, content: bool = True) -> list[dict[str, Any]]:
    """Give the live episodes with some numbers, in order of number."""
    found: list[dict[str, Any]] = []
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        found += select(reader, f"n IN ({','.join('?' * len(chunk))})", chunk, content=content)
    return sorted(found, key=lambda row: row["n"])


def between(reader: Reader, first: int, last: int, limit: int = -1) -> list[dict[str, Any]]:
    """Give the live episodes with numbers from `first` to `last`, in order."""
    return select(reader, "n BETWEEN ? AND ?", (first, last), f"ORDER BY n LIMIT {int(limit)}")


def page(
    reader: Reader, *, after: int, limit: int, session: str | None, source: str | None, newest_first: bool
) -> list[dict[str, Any]]:
    """Give a page of live episodes behind (or, newest first, before) a number."""
    condition, parameters = ("n < ?" if newest_first else "n > ?"), [after]
    filters: list[Any] = list(parameters)
    for column, value in (("session", session), ("source", source)):
        if value is not None:
            condition += f" AND {column} = ?"
            filters.append(value)
    return select(reader, condition, filters, f"ORDER BY n {'DESC' if newest_first else ''} LIMIT {int(limit)}")


def of_session(reader: Reader, session: str, limit: int) -> list[int]:
    """Give the numbers of the live episodes of a session, at most so many."""
    rows = reader.execute("SELECT n FROM episode WHERE session = ? LIMIT ?", (session, limit))
    return [row[0] for row in rows]


def in_quarantine(reader: Reader) -> list[int]:
    """Give the numbers of the episodes in quarantine."""
    return [row[0] for row in reader.execute("SELECT n FROM episode WHERE quarantined <> 0")]


def last_number(reader: Reader) -> int:
    """Give the number of the newest episode ever recorded, 0 when there is none."""
    newest: int = reader.execute(f"SELECT {_NEWEST}")[0][0]
    return newest


def next_number(tx: Transaction) -> int:
    """Give the number of the episode that is recorded next; the store is asked once in a transaction."""
    tx.numbered = (tx.numbered or last_number(tx)) + 1
    return tx.numbered


def already(tx: Transaction, key: str | None, digest: bytes) -> tuple[bool, bool]:
    """Tell whether an idempotency key was used, and whether a text with a digest is held: one look for every record."""
    if key is None and tx.numbered:
        return False, bool(tx.execute("SELECT 1 FROM episode WHERE text_hash = ? LIMIT 1", (digest,)))
    used, same, newest = tx.execute(
        "SELECT EXISTS(SELECT 1 FROM episode WHERE idem = ?) OR EXISTS(SELECT 1 FROM tombstone WHERE idem = ?),"
        f" EXISTS(SELECT 1 FROM episode WHERE text_hash = ?), {_NEWEST}",
        (key, key, digest),
    )[0]
    tx.numbered = max(tx.numbered, newest)
    return bool(used), bool(same)


def by_text(reader: Reader, digest: bytes, key: bytes | None) -> list[dict[str, Any]]:
    """Give the live first occurrences of a folded text's digest: under no state key, oldest first; or newest first.

    Under a key the newest holds it. Only the first hundreds are looked at, however often a text was repeated.
    """
    order = "ORDER BY n" if key is None else "ORDER BY n DESC"
    looked = f"SELECT n FROM episode WHERE text_hash = ? AND key_hash IS ? {order} LIMIT 400"
    condition = f"n IN ({looked}) AND quarantined = 0 AND verdict <> 'echo'"
    return select(reader, condition, (digest, key), order)


def counted_at(reader: Reader, moment: int) -> tuple[int, int]:
    """Count the live episodes that were recorded by a moment, and those erased since; an id tells four seconds."""
    bound = make_id("ep", moment, b"\xff" * 16)
    live: int = reader.execute("SELECT count(*) FROM episode WHERE recorded <= ?", (moment,))[0][0]
    gone: int = reader.execute("SELECT count(*) FROM tombstone WHERE id <= ? AND erased > ?", (bound, moment))[0][0]
    return live, gone


def keyed(reader: Reader, digest: bytes) -> list[dict[str, Any]]:
    """Give the live episodes under the state key with a digest, newest by event time first."""
    return select(reader, "key_hash = ? AND quarantined = 0", (digest,), "ORDER BY happened DESC, n DESC")


def matching_prefix(reader: Reader, prefix: str, limit: int = 2) -> list[tuple[str, bool]]:
    """Give (id, erased) of what begins with a prefix, episodes and tombstones alike."""
    bounds = (prefix, prefix + "~")  # `~` sorts behind every character of an id
    rows = reader.execute(
        "SELECT id, 0 FROM episode WHERE id >= ? AND id < ?"
        " UNION ALL SELECT id, 1 FROM tombstone WHERE id >= ? AND id < ? LIMIT ?",
        (*bounds, *bounds, limit),
    )
    return [(row[0], bool(row[1])) for row in rows]


def neighbours(reader: Reader, ref: str) -> tuple[str, ...]:
    """Give the ids directly before and behind an id in sort order."""
    found = reader.execute(
        "SELECT (SELECT max(id) FROM episode WHERE id < ?), (SELECT min(id) FROM episode WHERE id > ?),"
        " (SELECT max(id) FROM tombstone WHERE id < ?), (SELECT min(id) FROM tombstone WHERE id > ?)",
        (ref,) * 4,
    )[0]
    return tuple(other for other in found if other is not None)


def newest(reader: Reader) -> str:
    """Give the last id in sort order, which is that of the newest tick; "" in an empty store."""
    found = reader.execute("SELECT (SELECT max(id) FROM episode), (SELECT max(id) FROM tombstone)")[0]
    return max(found[0] or "", found[1] or "")


def edges_from(reader: Reader, kind: str, sources: Sequence[str]) -> list[tuple[str, str]]:
    """Give (source, target) of the edges of a kind that leave some episodes."""
    return _edges(reader, kind, "source", sources)


def edges_to(reader: Reader, kind: str, targets: Sequence[str]) -> list[tuple[str, str]]:
    """Give (source, target) of the edges of a kind that reach some episodes."""
    return _edges(reader, kind, "target", targets)


def _edges(reader: Reader, kind: str, column: str, refs: Sequence[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for start in range(0, len(refs), _CHUNK):
        chunk = refs[start : start + _CHUNK]
        marks = ",".join("?" * len(chunk))
        rows = reader.execute(
            f"SELECT source, target FROM edge WHERE {column} IN ({marks}) AND kind = ? ORDER BY made, id",
            (*chunk, kind),
        )
        found += [(row[0], row[1]) for row in rows]
    return found


def sessions(reader: Reader, *, after: str, limit: int) -> list[tuple[str, int, int]]:
    """Give (session, episodes, time of the last in microseconds) in order of name."""
    rows = reader.execute(
        "SELECT session, count(*), max(recorded) FROM episode WHERE session > ?"
        " GROUP BY session ORDER BY session LIMIT ?",
        (after, limit),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def texts(reader: Reader) -> Iterable[tuple[str, str]]:
    """Stream (id, content) of every live episode."""
    return ((row[0], row[1]) for row in reader.stream("SELECT id, content FROM episode"))
