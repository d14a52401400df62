"""The search index: posting lists in segments of 65,536 episodes, and a tail that is not in it yet.

A posting list is four parallel arrays, packed as bytes in the machine-independent little-endian form: the episode's
place in the segment (two bytes), the chunk of the episode (one; zeros at the end are left out, and most texts have one
chunk only), how often the term occurs in the chunk (one) and a code of the chunk's length (one). Terms are given as
keyed hashes of 64 bits. A long list has a map besides: bit p of it, from the lowest of the first byte on, tells whether
the term occurs at place p; it reaches as far as it has bytes.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.storage.reader import Reader
from assay.storage.tables import Value
from assay.storage.transaction import Transaction

__all__ = [
    "MOST_CHUNKS",
    "SEGMENT_BITS",
    "IndexState",
    "Occurrence",
    "Posting",
    "PostingList",
    "add",
    "candidates",
    "lookup",
    "maps",
    "read_postings",
    "remove",
    "reset",
    "set_map",
    "set_state",
    "state",
    "tail",
]

SEGMENT_BITS = 16
MOST_CHUNKS = 256
_CHUNK = 800  # variables of one statement
# Place, chunk, frequency, length code.
Occurrence = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index reaches: number of the last flushed episode, episodes, chunks and their summed length."""

    flushed: int
    docs: int
    chunks: int
    length: int
    tokeniser: int


class Posting(NamedTuple):
    """Where the postings of one term in one segment are stored, and in how many episodes it occurs there."""

    row: int
    term: int
    segment: int
    df: int


class PostingList(NamedTuple):
    """The postings of one term in one segment, ascending by place and chunk."""

    places: array[int]
    chunks: bytes
    freqs: bytes
    lengths: bytes


def state(reader: Reader) -> IndexState:
    """Give the state of the index."""
    return IndexState(*reader.execute("SELECT flushed, docs, chunks, length, tokeniser FROM index_state")[0])


def set_state(tx: Transaction, new: IndexState) -> None:
    """Write the state of the index."""
    tx.write(
        "UPDATE index_state SET flushed=?, docs=?, chunks=?, length=?, tokeniser=?",
        (new.flushed, new.docs, new.chunks, new.length, new.tokeniser),
    )


def reset(tx: Transaction) -> None:
    """Drop every posting; what was indexed becomes the tail again."""
    tx.write("DELETE FROM posting")
    tx.write("DELETE FROM place_map")
    set_state(tx, IndexState(0, 0, 0, 0, 0))


def tail(reader: Reader, flushed: int, limit: int = -1) -> list[tuple[int, str, int, str]]:
    """Give (number, content, happened, source) of the live episodes behind the index, in order."""
    rows = reader.execute(
        "SELECT n, content, happened, source FROM episode WHERE n > ? ORDER BY n LIMIT ?", (flushed, limit)
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def add(tx: Transaction, segment: int, postings: Mapping[int, Sequence[Occurrence]]) -> None:
    """Append occurrences, in order of place and chunk, to the lists of some terms."""
    tx.write_many(
        "INSERT INTO posting(term, segment, df, docs, chunks, freqs, lengths) VALUES(?,?,?,?,?,?,?)"
        " ON CONFLICT(term, segment) DO UPDATE SET df=df+excluded.df, docs=CAST(docs||excluded.docs AS BLOB),"
        " chunks=CASE excluded.chunks WHEN x'' THEN chunks ELSE"
        " CAST(chunks||zeroblob(length(freqs)-length(chunks))||excluded.chunks AS BLOB) END,"
        " freqs=CAST(freqs||excluded.freqs AS BLOB), lengths=CAST(lengths||excluded.lengths AS BLOB)",
        _rows(segment, postings),
    )


def _rows(segment: int, postings: Mapping[int, Sequence[Occurrence]]) -> Iterator[tuple[Value, ...]]:
    for term, found in postings.items():
        places, chunks, freqs, lengths = zip(*found, strict=True)
        df = len(found) if not any(chunks) else len(set(places))
        yield term, segment, df, _pack(places), bytes(chunks).rstrip(b"\0"), bytes(freqs), bytes(lengths)


def remove(tx: Transaction, terms: Iterable[int], segment: int, place: int) -> None:
    """Take one episode out of the lists of some terms."""
    for posting in lookup(tx, list(terms), segment):
        places, chunks, freqs, lengths = read_postings(tx, [posting])[posting]
        start, end = bisect_left(places, place), bisect_right(places, place)
        if start == end:
            continue
        if end - start == len(places):
            tx.write("DELETE FROM posting WHERE id=?", (posting.row,))
            tx.write("DELETE FROM place_map WHERE posting=?", (posting.row,))
            continue
        del places[start:end]
        left = [part[:start] + part[end:] for part in (chunks, freqs, lengths)]
        tx.write(
            "UPDATE posting SET df=?, docs=?, chunks=?, freqs=?, lengths=? WHERE id=?",
            (posting.df - 1, _pack(places), left[0].rstrip(b"\0"), left[1], left[2], posting.row),
        )
        mapped = maps(tx, [posting]).get(posting, b"")
        if place >> 3 < len(mapped):
            cleared = bytearray(mapped)
            cleared[place >> 3] &= ~(1 << (place & 7))
            set_map(tx, posting, bytes(cleared))


def lookup(reader: Reader, terms: Sequence[int], segment: int | None = None) -> list[Posting]:
    """Find the posting lists of some terms, in one segment or in all, without reading them."""
    found: list[Posting] = []
    place, inside = ("", []) if segment is None else (" AND segment = ?", [segment])
    for start in range(0, len(terms), _CHUNK):
        chunk = terms[start : start + _CHUNK]
        sql = f"SELECT id, term, segment, df FROM posting WHERE term IN ({','.join('?' * len(chunk))}){place}"
        found += map(Posting._make, reader.execute(sql, [*chunk, *inside]))
    return found


def read_postings(reader: Reader, postings: Iterable[Posting], *, chunked: bool = False) -> dict[Posting, PostingList]:
    """Read some lists; chunks that are left out are zero.

    Args:
        chunked: Only those in which a term stands behind the first chunk of an episode.
    """
    what = f"id, docs, chunks, freqs, lengths FROM posting WHERE {'length(chunks) > 0 AND ' if chunked else ''}id"
    return {
        posting: PostingList(_unpack(row[1]), row[2], row[3], row[4]) for posting, row in _of(reader, what, postings)
    }


def maps(reader: Reader, postings: Iterable[Posting]) -> dict[Posting, bytes]:
    """Read the maps of those of some lists that have one."""
    return {posting: row[1] for posting, row in _of(reader, "posting, bits FROM place_map WHERE posting", postings)}


def set_map(tx: Transaction, posting: Posting, bits: bytes) -> None:
    """Write the map of a list."""
    tx.write("INSERT OR REPLACE INTO place_map(posting, bits) VALUES(?,?)", (posting.row, bits))


def _of(reader: Reader, what: str, postings: Iterable[Posting]) -> Iterator[tuple[Posting, tuple[Any, ...]]]:
    """Give the rows that belong to some lists; each begins with the number of the list's row."""
    known = {posting.row: posting for posting in postings}
    wanted = list(known)
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        for row in reader.stream(f"SELECT {what} IN ({','.join('?' * len(chunk))})", chunk):
            yield known[row[0]], row


def candidates(reader: Reader, numbers: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """Give number -> (session, source, origin) of the live episodes among some numbers."""
    found: dict[int, tuple[str, str, str]] = {}
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        marks = ",".join("?" * len(chunk))
        rows = reader.execute(f"SELECT n, session, source, origin FROM episode WHERE n IN ({marks})", chunk)
        found |= {row[0]: (row[1] or "", row[2], row[3]) for row in rows}
    return found


def _unpack(stored: bytes) -> array[int]:
    places = array("H", stored)
    if sys.byteorder == "big":
        places.byteswap()
    return places


def _pack(places: Iterable[int]) -> bytes:
    packed = array("H", places)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
