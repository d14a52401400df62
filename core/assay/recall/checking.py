"""Checking that the search index holds what the episodes say: the log does not cover it, it is derived from them.

Both sides are added up as they come, so that neither has to be in memory. A posting counts as its frequency times the
random numbers of its term, its place and its chunk: other postings are another polynomial in these numbers, and have
another sum but for a chance of 3 in 2**32 (Schwartz and Zippel). Each check draws its own numbers.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, repeat
from operator import itemgetter, lt, mul

from assay.recall.index import CHUNK_TERMS, DAY_US, TOKENISER, analyse, length_code, length_of, term_codes
from assay.recall.slices import bits_of
from assay.storage import index_rows
from assay.storage.index_rows import MOST_CHUNKS, SEGMENT_BITS, PostingList
from assay.storage.reader import Reader

__all__ = ["check_index"]

_ROUND = 1_024  # episodes held in memory at once
_SHORT = 1_000  # characters: in longer texts, pieces are not worth keeping
_BITS = 20  # what counts the terms of a text, below the sum of their numbers
_SIZES = (1 << _BITS) - 1
_KEPT = 1 << 18


def check_index(reader: Reader) -> Iterator[str]:
    """Say where the index differs from the one that its episodes give, segment by segment."""
    state = index_rows.state(reader)
    if state.tokeniser not in (0, TOKENISER):
        return  # of an older version: the next flush builds it anew
    sums, after = _Sums(reader), 0
    for segment in range((state.flushed >> SEGMENT_BITS) + 1):
        sums.begin()
        end = min(state.flushed, (segment + 1 << SEGMENT_BITS) - 1)
        while after < end and (rows := index_rows.tail(reader, after, min(_ROUND, end - after))):
            sums.add([row for row in rows if row[0] <= end])
            after = rows[-1][0]
        after = end
        if sums.total != sum(sums.held(*found) for found in index_rows.lists(reader, segment)):
            yield f"the search index differs from its episodes in segment {segment}"
    if (sums.docs, sums.chunks, sums.length) != (state.docs, state.chunks, state.length):
        yield "the search index counts other episodes than there are"


class _Sums:
    """What the episodes of a segment add up to, and what a posting list does, in the numbers of one check."""

    def __init__(self, reader: Reader) -> None:
        # Small numbers: sums that fit a machine word are fast.
        self._places = array("I", os.urandom(4 << SEGMENT_BITS)).tolist()
        self._chunks = [1, *array("I", os.urandom(4 * MOST_CHUNKS))]
        self._reader, self._salt = reader, os.urandom(16)
        self._term, self._piece = lru_cache(_KEPT)(self._of_term), lru_cache(_KEPT)(self._of_piece)
        self._around = lru_cache(_KEPT)(self._of_around)
        self.docs = self.chunks = self.length = 0

    def begin(self) -> None:
        """Turn to another segment."""
        self.total = 0
        self._codes = [b""] * len(self._places)  # of the lengths of an episode's chunks
        self._first = bytearray(len(self._places))

    def add(self, rows: Sequence[tuple[int, str, int, str]]) -> None:
        """Add episodes."""
        for number, content, happened, source in rows:
            found = sum(map(self._piece, content.split())) if len(content) <= _SHORT else _SIZES
            if found & _SIZES <= CHUNK_TERMS:
                parts = [found + self._around(happened // DAY_US, source)]
            else:  # perhaps in several chunks
                parts = [self._packed(counts) for counts, _ in analyse(content, happened, source).chunks]
            place, codes = number % len(self._places), bytes([length_code(part & _SIZES) for part in parts])
            self._codes[place], self._first[place] = codes, codes[0]
            self.total += self._places[place] * sum(map(mul, self._chunks, [part >> _BITS for part in parts]))
            self.chunks += len(codes)
            self.length += sum(map(length_of, codes))
        self.docs += len(rows)

    def held(self, term: int, df: int, posting: PostingList, mapped: bytes) -> int:
        """Add up a posting list; one that no texts can give counts for less than nothing."""
        places, chunks, freqs, lengths = posting
        at, docs = places.tolist(), len(places)
        pick = itemgetter(*at, 0, 0)  # of one place alone it would give no tuple
        weights, codes = pick(self._places)[:-2], bytes(pick(self._first)[:-2])
        if chunks.strip(b"\0"):
            weights = tuple(map(mul, weights, map(self._chunks.__getitem__, chunks)))
            codes = b"".join(self._codes[place][chunk : chunk + 1] for place, chunk in zip(at, chunks, strict=False))
            at, docs = [place << 8 | chunk for place, chunk in zip(at, chunks, strict=False)], len(set(at))
        ascending = all(map(lt, at, islice(at, 1, None)))
        whole = (df, codes, len(freqs)) == (docs, lengths, len(at)) and 0 not in freqs
        if not (at and ascending and whole and _is_mapped(places, mapped)):
            return -1
        total: int = sum(map(mul, weights, freqs)) if freqs.strip(b"\1") else sum(weights)
        return total * self._number(term)

    def _number(self, code: int) -> int:
        return hash(self._salt + code.to_bytes(8, "big", signed=True)) & 0xFFFFFFFF  # keyed, and the salt is unknown

    def _of_term(self, term: str) -> int:
        return self._number(*term_codes(self._reader, [term]).values())

    def _of_piece(self, piece: str) -> int:
        from assay.text import terms

        return self._packed(Counter(terms(piece)))

    def _of_around(self, day: int, source: str) -> int:
        return self._packed(analyse("", day * DAY_US, source).chunks[0][0])

    def _packed(self, counts: Mapping[str, int]) -> int:
        """Give the sum of a chunk's terms, and in the lower bits their count."""
        total: int = sum(map(mul, map(self._term, counts), map(min, counts.values(), repeat(255))))
        return total << _BITS | sum(counts.values())


def _is_mapped(places: Sequence[int], mapped: bytes) -> bool:
    """Tell whether a map shows the places of a list, as far as it reaches."""
    shown = places[: bisect_left(places, len(mapped) << 3)]
    return not mapped or int.from_bytes(mapped, "little") == bits_of(shown)
