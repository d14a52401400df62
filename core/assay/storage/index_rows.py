"""The search index: posting lists in segments of 65,536 episodes, and a tail that is not in it yet.

A posting list is three parallel arrays, packed as bytes in the machine-independent little-endian form: the
episode's place in the segment (two bytes), how often the term occurs in it (one) and a code of its length (one).
Terms are given as keyed hashes of 64 bits.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = [
    "SEGMENT_BITS",
    "IndexState",
    "Posting",
    "add",
    "candidates",
    "lookup",
    "read_posting",
    "remove",
    "reset",
    "set_state",
    "state",
    "tail",
    "unpack",
]

SEGMENT_BITS = 16
_CHUNK = 800


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index reaches: number of the last flushed episode, documents and their summed length."""

    flushed: int
    docs: int
    length: int
    tokeniser: int


@dataclass(frozen=True, slots=True)
class Posting:
    """Where the postings of one term in one segment are stored, and how many they are."""

    row: int
    term: int
    segment: int
    df: int


def state(reader: Reader) -> IndexState:
    """Give the state of the index."""
    return IndexState(*reader.execute("SELECT flushed, docs, length, tokeniser FROM index_state")[0])


def set_state(tx: Transaction, new: IndexState) -> None:
    """Write the state of the index."""
    tx.write(
        "UPDATE index_state SET flushed=?, docs=?, length=?, tokeniser=?",
        (new.flushed, new.docs, new.length, new.tokeniser),
    )


def reset(tx: Transaction) -> None:
    """Drop every posting; what was indexed becomes the tail again."""
    tx.write("DELETE FROM posting")
    tx.write("UPDATE index_state SET flushed=0, docs=0, length=0, tokeniser=0")


def tail(reader: Reader, flushed: int, limit: int = -1) -> list[tuple[int, str, int, str]]:
    """Give (number, content, happened, source) of the live episodes behind the index, in order."""
    rows = reader.execute(
        "SELECT n, content, happened, source FROM episode WHERE n > ? ORDER BY n LIMIT ?", (flushed, limit)
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def add(tx: Transaction, postings: Mapping[tuple[int, int], Sequence[tuple[int, int, int]]]) -> None:
    """Append (place, frequency, length code) triples, sorted by place, to the lists of (term, segment)."""
    for (term, segment), triples in postings.items():
        places, freqs, lengths = zip(*triples, strict=True)
        tx.write(
            "INSERT INTO posting(term, segment, df, docs, freqs, lengths) VALUES(?,?,?,?,?,?)"
            " ON CONFLICT(term, segment) DO UPDATE SET df=df+excluded.df, docs=CAST(docs||excluded.docs AS BLOB),"
            " freqs=CAST(freqs||excluded.freqs AS BLOB), lengths=CAST(lengths||excluded.lengths AS BLOB)",
            (term, segment, len(triples), _pack(places), bytes(freqs), bytes(lengths)),
        )


def remove(tx: Transaction, terms: Iterable[int], segment: int, place: int) -> None:
    """Take one episode out of the lists of some terms."""
    for term in terms:
        for row, docs, freqs, lengths in tx.execute(
            "SELECT id, docs, freqs, lengths FROM posting WHERE term=? AND segment=?", (term, segment)
        ):
            places = unpack(docs)
            if place not in places:
                continue
            at = places.index(place)
            if len(places) == 1:
                tx.write("DELETE FROM posting WHERE id=?", (row,))
                continue
            del places[at]
            tx.write(
                "UPDATE posting SET df=?, docs=?, freqs=?, lengths=? WHERE id=?",
                (len(places), _pack(places), freqs[:at] + freqs[at + 1 :], lengths[:at] + lengths[at + 1 :], row),
            )


def lookup(reader: Reader, terms: Sequence[int]) -> list[Posting]:
    """Find the posting lists of some terms, without reading them."""
    found: list[Posting] = []
    for start in range(0, len(terms), _CHUNK):
        chunk = terms[start : start + _CHUNK]
        rows = reader.execute(
            f"SELECT id, term, segment, df FROM posting WHERE term IN ({','.join('?' * len(chunk))})", chunk
        )
        found += [Posting(*row) for row in rows]
    return found


def read_posting(reader: Reader, posting: Posting) -> tuple[array[int], bytes, bytes]:
    """Read one list: places in the segment (ascending), frequencies, length codes."""
    docs, freqs, lengths = reader.execute("SELECT docs, freqs, lengths FROM posting WHERE id=?", (posting.row,))[0]
    return unpack(docs), freqs, lengths


def candidates(reader: Reader, numbers: Sequence[int]) -> dict[int, tuple[str, str, str, str, int]]:
    """Give number -> (id, session, source, origin, quarantined) of the live episodes among some numbers."""
    found: dict[int, tuple[str, str, str, str, int]] = {}
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        marks = ",".join("?" * len(chunk))
        rows = reader.execute(
            f"SELECT n, id, session, source, origin, quarantined FROM episode WHERE n IN ({marks})", chunk
        )
        found |= {row[0]: (row[1], row[2] or "", row[3], row[4], row[5]) for row in rows}
    return found


def unpack(stored: bytes) -> array[int]:
    """Read packed places."""
    places = array("H", stored)
    if sys.byteorder == "big":
        places.byteswap()
    return places


def _pack(places: Iterable[int]) -> bytes:
    packed = array("H", places)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
