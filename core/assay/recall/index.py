"""Keeping the search index: what an episode is found by, and when it moves from the tail into the segments."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from assay.model.times import from_us
from assay.storage import index_rows
from assay.storage.index_rows import SEGMENT_BITS, IndexState
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = ["TailCache", "analyse", "document_frequency", "flush_if_due", "length_of", "rebuild", "remove", "term_codes"]

FLUSH_AT = 256
# Raised whenever an episode yields other terms: an older index is rebuilt by the next flush.
TOKENISER = 2
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class IndexedText:
    """The terms of an episode with their frequencies, and its length in terms."""

    terms: Counter[str]
    length: int


class TailCache:
    """The analysed texts of the tail, so that a process analyses each of them once."""

    def __init__(self, capacity: int = 4 * FLUSH_AT) -> None:
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

    words = terms(content) + terms(source)
    moment = from_us(happened)
    words += [str(moment.day), str(moment.year), *terms(_MONTHS[moment.month - 1])]
    return IndexedText(Counter(words), len(words))


def term_codes(reader: Reader, terms: Iterable[str]) -> dict[str, int]:
    """Give the keyed hash of each term, a signed integer of 64 bits."""
    key = reader.derive("terms")
    return {
        term: int.from_bytes(
            blake2b(term.encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest(), "big", signed=True
        )
        for term in terms
    }


def flush_if_due(tx: Transaction, number: int) -> None:
    """Move the tail into the segments, if the episode just recorded is one of those that do so.

    Numbers are never used twice, so every 256th record flushes, whichever process makes it.
    """
    if number % FLUSH_AT == 0:
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
    text = analyse(content, happened, source)
    index_rows.remove(
        tx, term_codes(tx, text.terms).values(), number >> SEGMENT_BITS, number & ((1 << SEGMENT_BITS) - 1)
    )
    length = length_of(_code(text.length))
    index_rows.set_state(tx, IndexState(state.flushed, state.docs - 1, state.length - length, state.tokeniser))


def _flush(tx: Transaction, state: IndexState, last: int | None = None) -> None:
    if state.tokeniser not in (0, TOKENISER):
        index_rows.reset(tx)
        state = index_rows.state(tx)
    docs, total, flushed = state.docs, state.length, state.flushed
    postings: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
    for number, content, happened, source in index_rows.tail(tx, state.flushed):
        if last is not None and number > last:
            break
        text = analyse(content, happened, source)
        code = _code(text.length)
        segment, place = number >> SEGMENT_BITS, number & ((1 << SEGMENT_BITS) - 1)
        for term, count in text.terms.items():
            postings.setdefault((term, segment), []).append((place, min(count, 255), code))
        docs, total, flushed = docs + 1, total + length_of(code), number
    codes = term_codes(tx, {term for term, _ in postings})
    index_rows.add(tx, {(codes[term], segment): triples for (term, segment), triples in postings.items()})
    index_rows.set_state(tx, IndexState(flushed, docs, total, TOKENISER))


def _code(length: int) -> int:
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
