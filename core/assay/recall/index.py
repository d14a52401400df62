"""Keeping the search index: what an episode is found by, and when it moves from the tail into the segments."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, groupby
from typing import TYPE_CHECKING

from assay.model.times import from_us
from assay.recall.slices import bits_of
from assay.storage import index_rows, run_rows
from assay.storage.index_rows import MOST_CHUNKS, SEGMENT_BITS, IndexState
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

if TYPE_CHECKING:
    from assay.recall.dense.likeness import Likeness

__all__ = [
    "DAY_US",
    "TailCache",
    "analyse",
    "document_frequency",
    "flush_if_due",
    "flush_is_due",
    "length_code",
    "length_of",
    "merge",
    "rebuild",
    "remove",
    "term_codes",
]

FLUSH_AT = 256
# Runs are added to the lists when they hold so many episodes: the more at once, the less is written, and the longer
# that one record takes.
MERGE_AT = 2_048
_MOST_POSTINGS = 200_000  # in runs, which every question reads: about five bytes each
# Raised whenever an episode yields other terms: an older index is rebuilt by the next flush.
TOKENISER = 4
CHUNK_TERMS = 48
_SHORTEST_CHUNK = 12  # a shorter rest stays with the chunk before it
_ROUND = 8_192  # episodes held in memory at once by a rebuild
# A list of so many episodes is mapped whenever its segment has grown by so many places: with each flush, maps would be
# the largest part of what is written.
LONG = 256
MAP_STEP = 8_192
DAY_US = 86_400_000_000
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


@dataclass(frozen=True)
class IndexedText:
    """An episode as chunks of about 48 terms: the frequencies of each chunk's terms, and its length in terms.

    A long text is as good as its best passage; as one document it would lose to any short one.
    """

    chunks: tuple[tuple[Counter[str], int], ...]

    @cached_property
    def terms(self) -> frozenset[str]:
        """Give every term that occurs."""
        return frozenset(chain.from_iterable(counts for counts, _ in self.chunks))


class TailCache:
    """The analysed texts of the tail, so that a process analyses each of them once.

    Attributes:
        likeness: What the host's embedder adds to the ranking, if it gave one.
    """

    def __init__(self, capacity: int = 4 * FLUSH_AT, likeness: Likeness | None = None) -> None:
        self.likeness = likeness
        self._known: OrderedDict[tuple[int, int, int], IndexedText] = OrderedDict()
        self._capacity = capacity

    def get(self, number: int, content: str, happened: int, source: str) -> IndexedText:
        """Give the analysed text of an episode."""
        key = (number, len(content), happened)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = analyse(content, happened, source)
            while len(self._known) > self._capacity:
                self._known.popitem(last=False)
        return found


def analyse(content: str, happened: int, source: str) -> IndexedText:
    """Cut an episode into what it is found by: the stems of its words, who said it, and its date as words."""
    from assay.text import terms

    words, around = terms(content), _around(source, happened // DAY_US)
    if len(words) < CHUNK_TERMS + _SHORTEST_CHUNK:
        words += around
        return IndexedText(((Counter(words), len(words)),))
    starts = list(range(0, len(words) - _SHORTEST_CHUNK + 1, CHUNK_TERMS))[:MOST_CHUNKS]
    parts = [[*words[start:end], *around] for start, end in zip(starts, [*starts[1:], len(words)], strict=True)]
    return IndexedText(tuple((Counter(part), len(part)) for part in parts))


@lru_cache(maxsize=1_024)
def _around(source: str, day: int) -> tuple[str, ...]:
    """Give the terms of who said it, and of its date."""
    from assay.text import terms

    date = from_us(day * DAY_US)
    return (*terms(source), str(date.day), str(date.year), *terms(_MONTHS[date.month - 1]))


def term_codes(reader: Reader, terms: Iterable[str]) -> dict[str, int]:
    """Give the keyed hash of each term, a signed integer of 64 bits."""
    keyed = blake2b(key=reader.derive("terms"), digest_size=8)
    codes: dict[str, int] = {}
    for term in terms:
        digest = keyed.copy()
        digest.update(term.encode("utf-8", "surrogatepass"))
        codes[term] = int.from_bytes(digest.digest(), "big", signed=True)
    return codes


def flush_is_due(recorded: Sequence[int]) -> bool:
    """Tell whether one of the episodes just recorded, given by number, is one of those that flush.

    Numbers are never used twice, so every 256th record flushes, whichever process makes it.
    """
    return bool(recorded) and (min(recorded) - 1) // FLUSH_AT != max(recorded) // FLUSH_AT


def flush_if_due(tx: Transaction, recorded: Sequence[int]) -> None:
    """Move the tail into the segments, if one of the episodes just recorded is one of those that do so."""
    if flush_is_due(recorded):
        _flush(tx, index_rows.state(tx))


def rebuild(tx: Transaction) -> None:
    """Build the index anew from the episodes."""
    index_rows.reset(tx)
    _flush(tx, index_rows.state(tx))


def remove(tx: Transaction, number: int, content: str, happened: int, source: str) -> None:
    """Take an episode out of the index, before its row is removed."""
    state = index_rows.state(tx)
    if number > state.flushed:
        return  # it is in the tail, which is read from the rows
    chunks = analyse(content, happened, source).chunks
    known = {term for counts, _ in chunks for term in counts}
    index_rows.remove(tx, term_codes(tx, known).values(), number)
    length = sum(length_of(length_code(size)) for _, size in chunks)
    index_rows.set_state(
        tx,
        IndexState(state.flushed, state.docs - 1, state.chunks - len(chunks), state.length - length, state.tokeniser),
    )


def _flush(tx: Transaction, state: IndexState, last: int | None = None) -> None:
    if state.tokeniser not in (0, TOKENISER):
        index_rows.reset(tx)
        state = index_rows.state(tx)
    while rows := index_rows.tail(tx, state.flushed, _ROUND):
        if last is not None:
            rows = [row for row in rows if row[0] <= last]
        for _, group in groupby(rows, key=lambda row: row[0] >> SEGMENT_BITS):
            state = _add(tx, state, list(group))
        if len(rows) < _ROUND:
            break
    index_rows.set_state(tx, state)


def _add(tx: Transaction, state: IndexState, rows: Sequence[tuple[int, str, int, str]]) -> IndexState:
    """Write a run of episodes of one segment, and merge the runs when they hold enough."""
    postings: dict[str, list[bytes]] = defaultdict(list)
    chunks, total = state.chunks, state.length
    for number, content, happened, source in rows:
        low, high = number & 255, number >> 8 & 255
        for chunk, (counts, size) in enumerate(analyse(content, happened, source).chunks):
            code = length_code(size)
            once = bytes((low, high, chunk, 1, code))
            for term, count in counts.items():
                postings[term].append(once if count == 1 else bytes((low, high, chunk, min(count, 255), code)))
            chunks, total = chunks + 1, total + length_of(code)
    codes = term_codes(tx, postings)
    run_rows.add(tx, rows[0][0], {codes[term]: found for term, found in postings.items()})
    state = IndexState(rows[-1][0], state.docs + len(rows), chunks, total, TOKENISER)
    first, held = run_rows.extent(tx)
    if state.flushed - first >= MERGE_AT or held >= _MOST_POSTINGS:
        merge(tx, state.flushed)
    return state


def merge(tx: Transaction, last: int) -> None:
    """Add all runs to the lists; the index reaches to the episode of number `last`."""
    runs = run_rows.runs(tx)
    index_rows.merge(tx, runs)
    for segment, group in groupby(runs, key=lambda run: run.first >> SEGMENT_BITS):
        of_segment, start = list(group), segment << SEGMENT_BITS
        reached = (min(last + 1 - start, 1 << SEGMENT_BITS)) // MAP_STEP
        if reached > (of_segment[0].first - start) // MAP_STEP:
            _map(tx, sorted(set(chain.from_iterable(run.terms for run in of_segment))), segment, reached * MAP_STEP)


def _map(tx: Transaction, terms: Sequence[int], segment: int, end: int) -> None:
    """Map the long lists of some terms in a segment as far as a place, which is left out.

    They are the terms that were just added to: a long list is seldom not among these, and waits for the next.
    """
    long = [posting for posting in index_rows.listed(tx, terms, segment) if posting.df >= LONG]
    known = index_rows.maps(tx, long)
    for posting, held in index_rows.read_postings(tx, long).items():
        mapped = known.get(posting, b"")
        places = held.places[bisect_left(held.places, len(mapped) << 3) : bisect_left(held.places, end)]
        bits = int.from_bytes(mapped, "little") | bits_of(places)
        index_rows.set_map(tx, posting, bits.to_bytes(end >> 3, "little"))


def length_code(length: int) -> int:
    """Code a length in one byte: exact below 128, then in steps of about 6 %."""
    if length < 128:
        return length
    code = 128
    while code < 255 and _LENGTHS[code + 1] <= length:
        code += 1
    return code


def _lengths() -> Sequence[int]:
    lengths = list(range(129))
    while len(lengths) < 256:
        lengths.append(max(lengths[-1] + 1, round(lengths[-1] * 1.06)))
    return lengths


_LENGTHS = _lengths()


def length_of(code: int) -> int:
    """Give the length that a code stands for."""
    return _LENGTHS[code]


def document_frequency(reader: Reader, words: Sequence[str]) -> tuple[dict[str, int], int]:
    """Count in how many episodes each of some index terms occurs, and how many episodes there are.

    The tail is left out: it is a few hundred episodes at most, and a weight needs no more.
    """
    counts: Counter[int] = Counter()
    codes = term_codes(reader, words)
    for posting in index_rows.lookup(reader, list(codes.values())):
        counts[posting.term] += posting.df
    return {word: counts[code] for word, code in codes.items()}, index_rows.state(reader).docs
