"""Runs: what the index took in since the posting lists were last added to.

A run holds some hundreds of episodes of one segment: its terms ascending, where the postings of each end, and the
postings of all of them in the four arrays of a posting list.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress, pairwise
from typing import NamedTuple

from assay.storage.failures import damaged
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = ["Packed", "Run", "add", "extent", "joined", "packed_places", "places_of", "remove", "reset", "runs"]

_RECORD = 5  # bytes of a posting: place (two), chunk, frequency, length code


class Packed(NamedTuple):
    """Postings as four arrays; where every chunk is the first, or those at the end are, they may be left out."""

    docs: bytes
    chunks: bytes
    freqs: bytes
    lengths: bytes

    def part(self, start: int, end: int) -> Packed:
        """Give the postings from one to before another."""
        chunks = self.chunks[start:end].rstrip(b"\0")
        return Packed(self.docs[2 * start : 2 * end], chunks, self.freqs[start:end], self.lengths[start:end])

    @property
    def df(self) -> int:
        """Give the number of episodes."""
        return len(set(places_of(self.docs))) if self.chunks else len(self.freqs)


class Run(NamedTuple):
    """A run, and the number of its first episode."""

    first: int
    terms: Sequence[int]
    ends: Sequence[int]
    packed: Packed

    def find(self, term: int) -> Packed | None:
        """Give the postings of a term, if it has any."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return None
        return self.packed.part(self.ends[at - 1] if at else 0, self.ends[at])

    def lists(self) -> Iterator[tuple[int, Packed]]:
        """Give every term with its postings."""
        start = 0
        for term, end in zip(self.terms, self.ends, strict=True):
            yield term, self.packed.part(start, end)
            start = end


def joined(parts: Sequence[Packed]) -> Packed:
    """Join postings of one term, in the order of their places."""
    if len(parts) == 1:
        return parts[0]
    docs, chunks, freqs, lengths = zip(*parts, strict=True)
    later = b""
    if any(chunks):
        later = b"".join([part.chunks.ljust(len(part.freqs), b"\0") for part in parts]).rstrip(b"\0")
    return Packed(b"".join(docs), later, b"".join(freqs), b"".join(lengths))


def runs(reader: Reader) -> list[Run]:
    """Give the runs, in order."""
    return _select(reader, "ORDER BY first")


def extent(reader: Reader) -> tuple[int, int]:
    """Give the number of the first episode that stands in a run, and how many postings there are in all runs."""
    first, held = reader.execute("SELECT min(first), sum(length(freqs)) FROM posting_run")[0]
    return first, held


def add(tx: Transaction, first: int, postings: Mapping[int, Sequence[bytes]]) -> None:
    """Write a run.

    Args:
        first: The number of its first episode.
        postings: For each term its postings in order, each as the bytes of place, chunk, frequency and length code.
    """
    terms = sorted(postings)
    records = b"".join(chain.from_iterable(map(postings.__getitem__, terms)))
    docs = bytearray(2 * len(records) // _RECORD)
    docs[::2], docs[1::2] = records[::_RECORD], records[1::_RECORD]
    packed = Packed(bytes(docs), *(records[at::_RECORD] for at in (2, 3, 4)))
    _write(tx, Run(first, terms, list(accumulate(map(len, map(postings.__getitem__, terms)))), packed))


def remove(tx: Transaction, number: int, place: int) -> bool:
    """Take an episode out of the run that holds it; False when none does, because it is in the lists."""
    found = _select(tx, "WHERE first <= ? ORDER BY first DESC LIMIT 1", (number,))
    if not found:
        return False
    (run,) = found
    places = places_of(run.packed.docs)
    kept = [other != place for other in places]
    counts = [sum(kept[start:end]) for start, end in pairwise(chain((0,), run.ends))]
    parts = (bytes(compress(part, kept)) for part in run.packed[1:])
    left = Packed(packed_places(compress(places, kept)), *parts)
    ends = [end for end, count in zip(accumulate(counts), counts, strict=True) if count]
    if ends:
        _write(tx, Run(run.first, list(compress(run.terms, counts)), ends, left))
    else:
        tx.write("DELETE FROM posting_run WHERE first = ?", (run.first,))
    return True


def reset(tx: Transaction) -> None:
    """Drop every run."""
    tx.write("DELETE FROM posting_run")


def places_of(docs: bytes) -> array[int]:
    """Unpack places in a segment."""
    return _unpack("H", docs)


def packed_places(places: Iterator[int] | Sequence[int]) -> bytes:
    """Pack places in a segment."""
    return _pack("H", places)


def _select(reader: Reader, tail: str, parameters: Sequence[int] = ()) -> list[Run]:
    rows = reader.execute(
        f"SELECT first, terms, ends, docs, chunks, freqs, lengths FROM posting_run {tail}", parameters
    )
    return [_read(*row) for row in rows]


def _read(first: int, terms: bytes, ends: bytes, *packed: bytes) -> Run:
    try:
        run = Run(first, _unpack("q", terms), _unpack("I", ends), Packed(*packed))
    except ValueError as error:
        raise damaged("the search index", error) from error
    if len(run.terms) != len(run.ends) or len(run.packed.docs) % 2:
        raise damaged("the search index", f"the parts of run {first} do not fit together")
    return run


def _write(tx: Transaction, run: Run) -> None:
    _, chunks, freqs, lengths = run.packed
    tx.write(
        "INSERT OR REPLACE INTO posting_run VALUES(?,?,?,?,?,?,?)",
        (run.first, _pack("q", run.terms), _pack("I", run.ends), run.packed.docs, chunks.rstrip(b"\0"), freqs, lengths),
    )


def _unpack(code: str, stored: bytes) -> array[int]:
    values = array(code, stored)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _pack(code: str, values: Iterator[int] | Sequence[int]) -> bytes:
    packed = array(code, values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
