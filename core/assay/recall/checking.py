"""Checking that the search index holds what the episodes say: the log does not cover it, it is derived from them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator

from assay.recall.index import TOKENISER, analyse, length_code, length_of, term_codes
from assay.recall.slices import bits_of
from assay.storage import index_rows
from assay.storage.index_rows import SEGMENT_BITS, PostingList
from assay.storage.reader import Reader

__all__ = ["check_index"]

_ROUND = 4_096  # episodes held in memory at once


def check_index(reader: Reader) -> Iterator[str]:
    """Say where the index differs from the one that its episodes give, segment by segment."""
    state = index_rows.state(reader)
    if state.tokeniser not in (0, TOKENISER):
        return  # of an older version: the next flush builds it anew
    docs = chunks = length = after = 0
    for segment in range((state.flushed >> SEGMENT_BITS) + 1):
        expected: dict[str, array[int]] = {}
        end = min(state.flushed, ((segment + 1) << SEGMENT_BITS) - 1)
        while after < end and (rows := index_rows.tail(reader, after, min(_ROUND, end - after))):
            for number, content, happened, source in rows:
                if number > end:
                    break
                found = _add(expected, number, content, happened, source)
                docs, chunks, length = docs + 1, chunks + found[0], length + found[1]
            after = min(end, rows[-1][0])
        after = end
        if differing := _differing(reader, segment, expected):
            yield f"the search index differs from its episodes in {differing} terms of segment {segment}"
    if (docs, chunks, length) != (state.docs, state.chunks, state.length):
        yield "the search index counts other episodes than there are"


def _add(expected: dict[str, array[int]], number: int, content: str, happened: int, source: str) -> tuple[int, int]:
    """Note what an episode is found by; give its chunks and their length."""
    place = number & ((1 << SEGMENT_BITS) - 1)
    parts, total = analyse(content, happened, source).chunks, 0
    for chunk, (counts, size) in enumerate(parts):
        code = length_code(size)
        total += length_of(code)
        packed = _packed(place, chunk, 0, code)
        for term, count in counts.items():
            if term not in expected:
                expected[term] = array("Q")
            expected[term].append(packed | (count if count < 256 else 255) << 8)
    return len(parts), total


def _differing(reader: Reader, segment: int, expected: dict[str, array[int]]) -> int:
    codes = term_codes(reader, expected)
    left = {codes[term]: found for term, found in expected.items()}
    differing = 0
    for term, df, posting, mapped in index_rows.lists(reader, segment):
        known = left.pop(term, None)
        differing += (
            known is None
            or df != len(set(posting.places))
            or known.tolist() != _occurrences(posting)
            or not _is_mapped(posting, mapped)
        )
    return differing + len(left)


def _is_mapped(posting: PostingList, mapped: bytes) -> bool:
    """Tell whether a map shows the places of a list, as far as it reaches."""
    reached = bisect_left(posting.places, len(mapped) << 3)
    return int.from_bytes(mapped, "little") == bits_of(posting.places[:reached])


def _occurrences(posting: PostingList) -> list[int]:
    return [_packed(*parts) for parts in zip(*posting, strict=False)]


def _packed(place: int, chunk: int, count: int, code: int) -> int:
    return place << 24 | chunk << 16 | count << 8 | code
