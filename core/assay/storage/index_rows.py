"""The search index: posting lists in segments of 65,536 episodes, runs that they are added to from, and a tail.

A posting list is four parallel arrays, packed as bytes in the machine-independent little-endian form: the episode's
place in the segment (two bytes), the chunk of the episode (one; zeros at the end are left out, and most texts have one
chunk only), how often the term occurs in the chunk (one) and a code of the chunk's length (one). Terms are given as
keyed hashes of 64 bits. A long list has a map besides: bit p of it, from the lowest of the first byte on, tells whether
the term occurs at place p; it reaches as far as it has bytes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, starmap
from typing import Any, NamedTuple

from assay.storage import run_rows
from assay.storage.reader import Reader
from assay.storage.run_rows import Packed, Run, packed_places, places_of
from assay.storage.transaction import Transaction

__all__ = [
    "MOST_CHUNKS",
    "SEGMENT_BITS",
    "IndexState",
    "Posting",
    "PostingList",
    "candidates",
    "listed",
    "lookup",
    "maps",
    "merge",
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
_APPEND = (
    "INSERT INTO posting(term, segment, df, docs, chunks, freqs, lengths) VALUES(?,?,?,?,?,?,?)"
    " ON CONFLICT(term, segment) DO UPDATE SET df=df+excluded.df, docs=CAST(docs||excluded.docs AS BLOB),"
    " chunks=CASE excluded.chunks WHEN x'' THEN chunks ELSE"
    " CAST(chunks||zeroblob(length(freqs)-length(chunks))||excluded.chunks AS BLOB) END,"
    " freqs=CAST(freqs||excluded.freqs AS BLOB), lengths=CAST(lengths||excluded.lengths AS BLOB)"
)
_NOTHING = Packed(b"", b"", b"", b"")


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index reaches: number of the last flushed episode, episodes, chunks and their summed length."""

    flushed: int
    docs: int
    chunks: int
    length: int
    tokeniser: int


class Posting(NamedTuple):
    """Where the postings of one term in one segment are stored, and in how many episodes it occurs there.

    Attributes:
        row: Number of the row of its list; where it has none yet, a negative one.
        runs: What stands in runs, behind the list.
    """

    row: int
    term: int
    segment: int
    df: int
    runs: Packed = _NOTHING


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
    run_rows.reset(tx)
    tx.write("DELETE FROM posting")
    tx.write("DELETE FROM place_map")
    set_state(tx, IndexState(0, 0, 0, 0, 0))


def tail(reader: Reader, flushed: int, limit: int = -1) -> list[tuple[int, str, int, str]]:
    """Give (number, content, happened, source) of the live episodes behind the index, in order."""
    rows = reader.execute(
        "SELECT n, content, happened, source FROM episode WHERE n > ? ORDER BY n LIMIT ?", (flushed, limit)
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def merge(tx: Transaction, runs: Sequence[Run]) -> None:
    """Append runs to the lists of their terms, in order, and drop them."""
    for segment, group in groupby(runs, key=lambda run: run.first >> SEGMENT_BITS):
        lists: dict[int, list[Packed]] = defaultdict(list)
        for run in group:
            for term, packed in run.lists():
                lists[term].append(packed)
        whole = ((term, run_rows.joined(parts)) for term, parts in lists.items())
        tx.write_many(_APPEND, ((term, segment, packed.df, *packed) for term, packed in whole))
    run_rows.reset(tx)


def remove(tx: Transaction, terms: Iterable[int], number: int) -> None:
    """Take one episode out of the lists of some terms, or out of its run."""
    segment, place = number >> SEGMENT_BITS, number & ((1 << SEGMENT_BITS) - 1)
    if run_rows.remove(tx, number, place):
        return
    for posting in listed(tx, list(terms), segment):
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
            (posting.df - 1, packed_places(places), left[0].rstrip(b"\0"), left[1], left[2], posting.row),
        )
        mapped = maps(tx, [posting]).get(posting, b"")
        if place >> 3 < len(mapped):
            cleared = bytearray(mapped)
            cleared[place >> 3] &= ~(1 << (place & 7))
            set_map(tx, posting, bytes(cleared))


def lookup(reader: Reader, terms: Sequence[int]) -> list[Posting]:
    """Find the postings of some terms in every segment; what stands in runs is read at once, lists are not."""
    found = {(posting.term, posting.segment): posting for posting in listed(reader, terms)}
    behind: dict[tuple[int, int], list[Packed]] = defaultdict(list)
    for run in run_rows.runs(reader):
        for term in terms:
            if (packed := run.find(term)) is not None:
                behind[term, run.first >> SEGMENT_BITS].append(packed)
    for at, ((term, segment), parts) in enumerate(behind.items(), 1):
        packed = run_rows.joined(parts)
        before = found.get((term, segment), Posting(-at, term, segment, 0))
        found[term, segment] = before._replace(df=before.df + packed.df, runs=packed)
    return list(found.values())


def listed(reader: Reader, terms: Sequence[int], segment: int | None = None) -> list[Posting]:
    """Find the lists of some terms, in one segment or in all, without what stands in runs."""
    found: list[Posting] = []
    place, inside = ("", []) if segment is None else (" AND segment = ?", [segment])
    for start in range(0, len(terms), _CHUNK):
        chunk = terms[start : start + _CHUNK]
        sql = f"SELECT id, term, segment, df FROM posting WHERE term IN ({','.join('?' * len(chunk))}){place}"
        found += starmap(Posting, reader.execute(sql, [*chunk, *inside]))
    return found


def read_postings(reader: Reader, postings: Iterable[Posting], *, chunked: bool = False) -> dict[Posting, PostingList]:
    """Read some lists; chunks that are left out are zero.

    Args:
        chunked: Only those in which a term stands behind the first chunk of an episode.
    """
    wanted = dict.fromkeys(postings)
    plain = [posting for posting in wanted if not posting.runs.chunks] if chunked else []
    found: dict[Posting, PostingList] = {}
    for some, condition in ((plain, "length(chunks) > 0 AND id"), (wanted.keys() - plain, "id")):
        for posting, row in _of(reader, f"id, docs, chunks, freqs, lengths FROM posting WHERE {condition}", some):
            packed = row[1:]
            if posting.runs.freqs:
                packed = run_rows.joined([Packed(*packed), posting.runs])
            found[posting] = PostingList(places_of(packed[0]), *packed[1:])
    for posting in wanted:
        if posting.row < 0 and (posting.runs.chunks or not chunked):
            found[posting] = PostingList(places_of(posting.runs.docs), *posting.runs[1:])
    return found


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
