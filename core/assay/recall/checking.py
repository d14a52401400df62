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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, compress, groupby, islice, repeat, starmap
from operator import add, itemgetter, lt, mul, not_
from struct import pack, unpack
from typing import Any

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
_TOGETHER = 512  # episodes, or lists


def check_index(reader: Reader) -> Iterator[str]:
    """Say where the index differs from the one that its episodes give, segment by segment."""
    state = index_rows.state(reader)
    if state.tokeniser not in (0, TOKENISER):
        return  # of an older version: the next flush builds it anew
    sums, after = _Sums(reader), 0
    while after < state.flushed and (rows := index_rows.tail(reader, after, _TOGETHER)):
        sums.add([row for row in rows if row[0] <= state.flushed])
        after = rows[-1][0]
    held: dict[int, int] = defaultdict(int)
    for run in reversed(run_rows.runs(reader)):
        held[run.first >> SEGMENT_BITS] += sums.taken_in(run)
    for segment, lists in groupby(audit_rows.postings(reader), itemgetter(0)):
        while some := list(islice(lists, _TOGETHER)):
            held[segment] += sums.of_lists(some)
    for segment in sorted(dict(sums.total.items() ^ held.items())):
        yield f"the search index differs from its episodes in segment {segment}"
    if (sums.docs, sums.chunks, sums.length) != (state.docs, state.chunks, state.length):
        yield "the search index counts other episodes than there are"


class _Sums:
    """What the episodes of a segment add up to, and what a posting list does, in the numbers of one check."""

    def __init__(self, reader: Reader) -> None:
        (self._length,), self._places, self._chunks = _drawn(1), _drawn(1 << SEGMENT_BITS), [1, *_drawn(MOST_CHUNKS)]
        self._factors = [1 + code * self._length for code in range(256)]
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
        found = [sum(map(self._pieces.__getitem__, pieces)) if pieces else _SIZES for pieces in split]
        short = [one & _SIZES <= CHUNK_TERMS for one in found]
        around = map(self._around, [happened // DAY_US for _, _, happened, _ in rows], map(itemgetter(3), rows))
        parts = list(compress(map(add, found, around), short))
        self._add(map(itemgetter(0), compress(rows, short)), parts, repeat(1))
        for number, content, happened, source in compress(rows, map(not_, short)):  # perhaps in several chunks
            parts = [self._packed(counts) for counts, _ in analyse(content, happened, source).chunks]
            self._add(repeat(number), parts, self._chunks)
        self.docs += len(rows)

    def _add(self, numbers: Iterable[int], parts: Sequence[int], chunks: Iterable[int]) -> None:
        """Add chunks of some episodes, each given by what its terms add up to."""
        codes = [length_code(part & _SIZES) for part in parts]
        sums = map(mul, [part >> _BITS for part in parts], map(self._factors.__getitem__, codes))
        for number, chunk, one in zip(numbers, chunks, sums, strict=False):
            self.total[number >> SEGMENT_BITS] += one * chunk * self._places[number % len(self._places)]
        self.chunks += len(parts)
        self.length += sum(map(length_of, codes))

    def of_lists(self, lists: Sequence[tuple[Any, ...]]) -> int:
        """Add up posting lists of one segment; most have a single posting, and these are added up together."""
        single = [df == len(freqs) == 1 and not chunks and not bits for _, _, df, _, chunks, freqs, _, bits in lists]
        total: int = sum(starmap(self.held, compress(lists, map(not_, single))))
        if not any(single):
            return total
        _, terms, _, docs, _, freqs, lengths, _ = zip(*compress(lists, single), strict=True)
        if {*map(len, docs)} != {2} or {*map(len, lengths)} != {1} or 0 in (counts := b"".join(freqs)):
            return -1
        places = unpack(f"<{len(docs)}H", b"".join(docs))
        if max(places) >= self._ends.get(lists[0][0], 1 << SEGMENT_BITS):
            return -1
        weights = map(mul, map(self._places.__getitem__, places), counts)
        factors = map(mul, map(self._factors.__getitem__, b"".join(lengths)), self._numbers(terms))
        return total + int(sum(map(mul, weights, factors)))

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
        return total * self._numbers([term])[0] if whole else -1

    def taken_in(self, run: Run) -> int:
        """Add up a run; the one behind it comes first, and the lists come last."""
        segment, begins = run.first >> SEGMENT_BITS, run.first & ((1 << SEGMENT_BITS) - 1)
        held = [self.held(segment, term, packed.df, *packed, b"") for term, packed in run.lists()]
        self._ends[segment] = begins
        ordered = all(map(lt, run.terms, islice(run.terms, 1, None)))
        (docs, chunks, freqs, lengths), count = run.packed, run.ends[-1] if run.ends else 0
        whole = len(docs) == 2 * count and len(freqs) == len(lengths) == count >= len(chunks)
        return sum(held) if ordered and whole and min(places_of(docs), default=-1) >= begins else -1

    def _learn(self, split: Sequence[Sequence[str]]) -> None:
        """Get the sum of each piece of some texts."""
        from assay.text import terms

        if len(self._pieces) > _KEPT:
            self._pieces.clear()
        new = set(chain.from_iterable(split)).difference(self._pieces)
        own = {piece for piece in new if piece.isdecimal() and piece.isascii()}  # a number is its own term
        found = {piece: terms(piece) for piece in new - own}
        numbers = self._of_terms(chain(own, chain.from_iterable(found.values())))
        self._pieces.update([(piece, numbers[piece] << _BITS | 1) for piece in own])
        self._pieces |= {piece: sum(map(numbers.__getitem__, of)) << _BITS | len(of) for piece, of in found.items()}

    def _of_terms(self, terms: Iterable[str]) -> dict[str, int]:
        return dict(zip(codes := term_codes(self._reader, terms), self._numbers(codes.values()), strict=True))

    def _numbers(self, terms: Collection[int]) -> list[int]:
        """Draw a number for each term: its hash is keyed, and the salt is unknown."""
        packed, salt = pack(f">{len(terms)}q", *terms), self._salt
        return [hash(salt + packed[at : at + 8]) & 0xFFFFFFFF for at in range(0, len(packed), 8)]

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
