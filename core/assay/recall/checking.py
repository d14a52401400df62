"""Checking that the search index holds what the episodes say: the log does not cover it, it is derived from them.

Both sides are added up as they come, so that neither has to be in memory. A posting counts as its frequency times the
random numbers of its term, its place and its chunk, and as often again as the code of that chunk's length times a
random number says: other postings are another polynomial in these numbers, and have another sum but for a chance of
4 in 2**30 (Schwartz and Zippel). Each check draws its own numbers.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, groupby, islice, repeat, starmap
from operator import itemgetter, lt, mul
from struct import unpack

from assay.recall.index import CHUNK_TERMS, DAY_US, TOKENISER, analyse, length_code, length_of, term_codes
from assay.storage import audit_rows, index_rows, run_rows
from assay.storage.index_rows import MOST_CHUNKS, SEGMENT_BITS
from assay.storage.reader import Reader
from assay.storage.run_rows import Run, places_of

__all__ = ["check_index"]

_SHORT = 400  # characters: longer texts are seldom one chunk
_BITS = 20  # what counts the terms of a text, below the sum of their numbers
_SIZES = (1 << _BITS) - 1
_KEPT = 1 << 16


def check_index(reader: Reader) -> Iterator[str]:
    """Say where the index differs from the one that its episodes give, segment by segment."""
    state = index_rows.state(reader)
    if state.tokeniser not in (0, TOKENISER):
        return  # of an older version: the next flush builds it anew
    sums, after = _Sums(reader), 0
    while after < state.flushed and (rows := index_rows.tail(reader, after, 256)):
        sums.add([row for row in rows if row[0] <= state.flushed])
        after = rows[-1][0]
    held: dict[int, int] = defaultdict(int)
    for run in reversed(run_rows.runs(reader)):
        held[run.first >> SEGMENT_BITS] += sums.taken_in(run)
    for segment, lists in groupby(audit_rows.postings(reader), itemgetter(0)):
        held[segment] += sum(starmap(sums.held, lists))
    for segment in sorted(dict(sums.total.items() ^ held.items())):
        yield f"the search index differs from its episodes in segment {segment}"
    if (sums.docs, sums.chunks, sums.length) != (state.docs, state.chunks, state.length):
        yield "the search index counts other episodes than there are"


class _Sums:
    """What the episodes of a segment add up to, and what a posting list does, in the numbers of one check."""

    def __init__(self, reader: Reader) -> None:
        (self._length,), self._places, self._chunks = _drawn(1), _drawn(1 << SEGMENT_BITS), [1, *_drawn(MOST_CHUNKS)]
        self._reader, self._salt = reader, os.urandom(16)
        self._pieces: dict[str, int] = {}
        self._around = lru_cache(1_024)(lambda *at: self._packed(analyse("", at[0] * DAY_US, at[1]).chunks[0][0]))
        self.total = Counter[int]()
        self._ends: dict[int, int] = {}  # by segment: the places of what comes now are lower
        self.docs = self.chunks = self.length = 0

    def add(self, rows: Sequence[tuple[int, str, int, str]]) -> None:
        """Add episodes."""
        split = [content.split() if len(content) <= _SHORT else [] for _, content, _, _ in rows]
        self._learn(split)
        for (number, content, happened, source), pieces in zip(rows, split, strict=True):
            found = sum(map(self._pieces.__getitem__, pieces)) if pieces else _SIZES
            if found & _SIZES <= CHUNK_TERMS:
                parts = [found + self._around(happened // DAY_US, source)]
            else:  # perhaps in several chunks
                parts = [self._packed(counts) for counts, _ in analyse(content, happened, source).chunks]
            place = self._places[number % len(self._places)]
            for chunk, part in zip(self._chunks, parts, strict=False):
                code = length_code(part & _SIZES)
                self.total[number >> SEGMENT_BITS] += (part >> _BITS) * (1 + code * self._length) * chunk * place
                self.length += length_of(code)
            self.chunks += len(parts)
        self.docs += len(rows)

    def held(self, segment: int, term: int, df: int, *packed: bytes) -> int:
        """Add up a posting list as it is stored; one that no texts can give counts for less than nothing."""
        (docs, chunks, freqs, lengths, mapped), count = packed, len(packed[2])
        if not 0 < count == len(lengths) == len(docs) / 2 or 0 in freqs:
            return -1
        at = places = unpack(f"<{count}H", docs)
        end = self._ends.get(segment, 1 << SEGMENT_BITS)
        weights: Sequence[int] = itemgetter(*places, 0)(self._places)[:-1]
        if chunks:
            chunks = chunks.ljust(count, b"\0")
            weights = tuple(map(mul, weights, map(self._chunks.__getitem__, chunks)))
            at = tuple([place << 8 | chunk for place, chunk in zip(places, chunks, strict=True)])
            places = tuple(sorted(set(places)))
        if freqs.strip(b"\1"):
            weights = tuple(map(mul, weights, freqs))
        ordered = places[-1] < end and all(map(lt, at, islice(at, 1, None)))
        whole = ordered and df == len(places) and (not mapped or _shows(mapped, places))
        total: int = sum(weights) + sum(map(mul, weights, lengths)) * self._length
        return total * self._number(term) if whole else -1

    def taken_in(self, run: Run) -> int:
        """Add up a run; the one behind it comes first, and the lists come last."""
        segment, begins = run.first >> SEGMENT_BITS, run.first & ((1 << SEGMENT_BITS) - 1)
        held = [self.held(segment, term, packed.df, *packed, b"") for term, packed in run.lists()]
        self._ends[segment] = begins
        ordered = all(map(lt, run.terms, islice(run.terms, 1, None)))
        return sum(held) if ordered and min(places_of(run.packed.docs), default=-1) >= begins else -1

    def _learn(self, split: Sequence[Sequence[str]]) -> None:
        """Get the sum of each piece of some texts."""
        from assay.text import terms

        if len(self._pieces) > _KEPT:
            self._pieces.clear()
        new = set(chain.from_iterable(split)).difference(self._pieces)
        # A number is its own term.
        found = {piece: [piece] if piece.isdecimal() and piece.isascii() else terms(piece) for piece in new}
        numbers = self._of_terms(chain.from_iterable(found.values()))
        for piece, held in found.items():
            self._pieces[piece] = sum(map(numbers.__getitem__, held)) << _BITS | len(held)

    def _of_terms(self, terms: Iterable[str]) -> dict[str, int]:
        return {term: self._number(code) for term, code in term_codes(self._reader, terms).items()}

    def _number(self, code: int) -> int:
        return hash(self._salt + code.to_bytes(8, "big", signed=True)) & 0xFFFFFFFF  # keyed, and the salt is unknown

    def _packed(self, counts: Mapping[str, int]) -> int:
        """Give the sum of a chunk's terms, and in the lower bits their count."""
        total: int = sum(map(mul, self._of_terms(counts).values(), map(min, counts.values(), repeat(255))))
        return total << _BITS | sum(counts.values())


def _drawn(count: int) -> list[int]:
    """Draw small numbers: sums that fit a machine word are fast."""
    return [number >> 2 for number in unpack(f"{count}I", os.urandom(4 * count))]


def _shows(mapped: bytes, places: Sequence[int]) -> bool:
    """Tell whether a map, as far as it reaches, shows these places, which are ascending."""
    shown = places[: bisect_left(places, len(mapped) << 3)]
    bits = f"{int.from_bytes(mapped, 'little'):0{len(mapped) << 3}b}"[::-1]
    return bits.count("1") == len(shown) and "0" not in itemgetter(*shown, 0)(bits)[:-1]
