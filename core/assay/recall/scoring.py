"""Scoring by words: BM25 over the posting lists of the index, and over the tail that is not in them yet.

BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 = 0.9 and b = 0.75 over chunks of
48 terms; an episode is worth its best chunk.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, groupby, repeat
from operator import attrgetter, itemgetter

from assay.recall import index
from assay.recall.index import IndexedText, TailCache, length_of, term_codes
from assay.recall.slices import bits_of, highest, map_of, places_of, summed
from assay.storage import index_rows
from assay.storage.index_rows import SEGMENT_BITS, IndexState, Posting, PostingList
from assay.storage.reader import Reader

__all__ = ["Deadline", "Scorer"]

_K1 = 0.9
_B = 0.75
_POINTS = 63  # of an episode that holds every word, where candidates are chosen
_MOST_TERMS = 48  # a goal of hundreds of words is what its rarest words say
_FEW = 2_048  # episodes that are all scored, where no others are in question
_MOST_EQUAL = 4_096  # candidates with equal points that are all scored; of more, the newest
_PLACE = (1 << SEGMENT_BITS) - 1
_EVERY = (1 << (1 << SEGMENT_BITS)) - 1  # the set of all places


class Deadline:
    """A moment after which a search gives what it has; checked inside the scoring loops."""

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds

    def passed(self) -> bool:
        """Tell whether the moment has come."""
        return self._at is not None and time.monotonic() > self._at

    def check(self) -> None:
        """Raise TimeoutError when the moment has come."""
        if self.passed():
            raise TimeoutError("the search took longer than its deadline")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The terms of a question with their weights, and where they occur."""

    weights: Mapping[str, float]
    postings: Mapping[str, Mapping[int, Posting]]  # by segment
    norms: Sequence[float]  # the length part of BM25, by length code


class Scorer:
    """What the episodes of a store are worth to some terms.

    Args:
        terms: The terms of a question.
        among: Numbers of the only episodes in question; None for all.
        without: Numbers of episodes that are not in question, and lend nothing to what stands beside them.
        source: The source of the only episodes in question, or "": its words are terms of each of them.

    Attributes:
        recent: The scores of the episodes of the tail that hold a term, by number.
        frequency: In how many episodes of the index each term occurs.
        documents: How many episodes the index has.
    """

    def __init__(
        self,
        reader: Reader,
        terms: Sequence[str],
        cache: TailCache,
        deadline: Deadline,
        *,
        among: Iterable[int] | None = None,
        without: Iterable[int] = (),
        source: str = "",
    ) -> None:
        from assay.text import terms as terms_of

        self._reader, self._deadline = reader, deadline
        self._required = terms_of(source)
        self._among = None if among is None else list(among)
        self._few = self._among if self._among is not None and len(self._among) <= _FEW else None
        self._without = frozenset(without)
        state = index_rows.state(reader)
        self.documents, self._chunked = state.docs, state.chunks > state.docs
        most = _MOST_TERMS if self._few is None else len(terms)
        self._asked, recent = _weighed(reader, state, terms, self._required, cache, deadline, most)
        self.recent = {number: score for number, score in recent.items() if number not in self._without}
        self.frequency = {term: sum(found.df for found in self._asked.postings[term].values()) for term in terms}
        self._sums: dict[int, list[int]] | None = None
        self._scopes: list[dict[int, int]] = []
        self._lists: dict[Posting, PostingList] = {}
        self._maps: dict[Posting, bytes | bytearray] = {}

    def candidates(self, count: int) -> list[int]:
        """Give the numbers of the episodes of the index that hold the most of the question's weight.

        They are `count` and those that are worth as much as the last of these; and as many again of the texts that
        hold words in several chunks, which are worth less than the words that they hold far apart.
        """
        if self._few is not None:
            return self._few
        if self._sums is None:
            self._sums = self._summed()
            inside, long = self._inside(self._sums), self._long()
            self._scopes = [
                _without(inside, long),
                {segment: bits & inside.get(segment, 0) for segment, bits in long.items()},
            ]
        chosen: list[int] = []
        for scope in self._scopes:
            found = highest(self._sums, count, _MOST_EQUAL, scope)
            chosen += [
                (segment << SEGMENT_BITS) + place for segment, bits in found.items() for place in places_of(bits)
            ]
        return chosen

    def _inside(self, segments: Iterable[int]) -> dict[int, int]:
        """Give, by segment, the episodes in question."""
        inside = dict.fromkeys(segments, _EVERY)
        if self._among is not None:
            inside = _sets_of(self._among)
        for term in self._required:
            held = {posting.segment: bits for posting, bits in self._sets(self._asked.postings[term].values())}
            inside = {segment: bits & held.get(segment, 0) for segment, bits in inside.items()}
        return _without(inside, _sets_of(self._without))

    def _long(self) -> dict[int, int]:
        """Give, by segment, the episodes in whose later chunks a word of the question stands."""
        if not self._chunked:
            return {}
        asked = (posting for term in self._asked.weights for posting in self._asked.postings[term].values())
        long: dict[int, int] = {}
        for posting, listed in index_rows.read_postings(self._reader, asked, chunked=True).items():
            self._deadline.check()
            self._lists[posting] = listed
            later = bits_of(compress(listed.places, listed.chunks))
            long[posting.segment] = long.get(posting.segment, 0) | later
        return long

    def scores(self, numbers: Iterable[int]) -> dict[int, float]:
        """Give the scores of those of some episodes of the index that hold a term: each that of its best chunk."""
        segments = _by_segment(number for number in numbers if number not in self._without)
        worth = {segment: _Worth(places, self._asked.norms) for segment, places in segments.items()}
        held: list[tuple[Posting, float, Sequence[int]]] = []
        for term, weight in self._asked.weights.items():
            for posting in map(self._asked.postings[term].get, segments):
                if posting and (nths := worth[posting.segment].shown(self._maps.get(posting))):
                    held.append((posting, weight, nths))
        self._read(posting for posting, _, _ in held)
        for posting, weight, nths in held:
            self._deadline.check()
            worth[posting.segment].add(self._lists[posting], weight, nths)
        return {(segment << SEGMENT_BITS) + place: score for segment, of in worth.items() for place, score in of.best()}

    def _summed(self) -> dict[int, list[int]]:
        """Give every episode points for the terms that it holds, by segment."""
        weights = self._asked.weights
        share = _POINTS / sum(weights.values()) if weights else 0.0
        points = {
            posting: max(1, round(share * weight))
            for term, weight in weights.items()
            for posting in self._asked.postings[term].values()
        }
        ordered = self._sets(sorted(points, key=attrgetter("segment")))
        return {
            segment: summed((bits, points[posting]) for posting, bits in found)
            for segment, found in groupby(ordered, key=lambda pair: pair[0].segment)
        }

    def _sets(self, postings: Iterable[Posting]) -> Iterable[tuple[Posting, int]]:
        """Give the sets of the episodes that stand in some lists: from the map, and from the list behind its reach."""
        wanted = list(postings)
        unread = [posting for posting in wanted if posting.df >= index.LONG and posting not in self._maps]
        self._maps |= index_rows.maps(self._reader, unread)
        self._read(posting for posting in wanted if len(self._maps.get(posting, b"")) << 3 <= _PLACE)
        for posting in wanted:
            self._deadline.check()
            mapped = self._maps.get(posting, b"")
            if len(mapped) << 3 <= _PLACE:
                places = self._lists[posting].places
                self._maps[posting] = mapped = map_of(places[bisect_left(places, len(mapped) << 3) :], mapped)
            yield posting, int.from_bytes(mapped, "little")

    def _read(self, postings: Iterable[Posting]) -> None:
        unread = [posting for posting in postings if posting not in self._lists]
        self._lists |= index_rows.read_postings(self._reader, unread)


def _weighed(
    reader: Reader,
    state: IndexState,
    terms: Sequence[str],
    required: Sequence[str],
    cache: TailCache,
    deadline: Deadline,
    most: int,
) -> tuple[_Asked, dict[int, float]]:
    """Weigh the terms of a question by how rare they are, so many of them, and score the tail."""
    recent: list[tuple[int, IndexedText]] = []
    for number, content, happened, source in index_rows.tail(reader, state.flushed):
        deadline.check()
        recent.append((number, cache.get(number, content, happened, source)))
    asked_for = frozenset(terms)
    held = Counter(chain.from_iterable(text.terms & asked_for for _, text in recent))
    codes = term_codes(reader, {*terms, *required})
    named = {code: term for term, code in codes.items()}
    postings: dict[str, dict[int, Posting]] = {term: {} for term in codes}
    for posting in index_rows.lookup(reader, list(named)):
        postings[named[posting.term]][posting.segment] = posting
    frequency = {term: sum(posting.df for posting in postings[term].values()) + held[term] for term in terms}
    sizes = [size for _, text in recent for _, size in text.chunks]
    mean = max(1.0, (state.length + sum(sizes)) / max(1, state.chunks + len(sizes)))
    rarest = sorted(filter(frequency.get, terms), key=lambda term: frequency[term])[:most]
    weights = {term: _idf(frequency[term], state.docs + len(recent)) * (_K1 + 1) for term in rarest}
    asked = _Asked(
        _weighty(weights, frequency),
        postings,
        [_K1 * (1 - _B + _B * length_of(code) / mean) for code in range(256)],
    )
    scored: dict[int, float] = {}
    for number, text in recent:
        deadline.check()
        if shared := text.terms & asked.weights.keys():
            scored[number] = _recent_score({term: asked.weights[term] for term in sorted(shared)}, text, mean)
    return asked, scored


def _weighty(weights: Mapping[str, float], frequency: Mapping[str, int]) -> Mapping[str, float]:
    """Leave out what weighs nothing beside the others, such as the year in which nearly all was said."""
    least = sum(weights.values()) / (2 * _POINTS)
    kept = {term: weight for term, weight in weights.items() if weight >= least}
    return kept if sum(map(frequency.__getitem__, kept)) > _MOST_EQUAL else weights


def _idf(frequency: int, total: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _recent_score(weights: Mapping[str, float], text: IndexedText, mean: float) -> float:
    """Give the score of the best chunk of a text that holds some terms."""
    best = 0.0
    for counts, size in text.chunks:
        if not weights.keys().isdisjoint(counts):
            norm = _K1 * (1 - _B + _B * size / mean)
            held = (term for term in weights if term in counts)
            best = max(best, sum(weights[term] * counts[term] / (counts[term] + norm) for term in held))
    return best


def _without(sets: Mapping[int, int], others: Mapping[int, int]) -> dict[int, int]:
    """Take out of some sets, by segment, what stands in others."""
    return {segment: bits & ~others[segment] if segment in others else bits for segment, bits in sets.items()}


def _sets_of(numbers: Iterable[int]) -> dict[int, int]:
    return {segment: bits_of(places) for segment, places in _by_segment(numbers).items()}


def _by_segment(numbers: Iterable[int]) -> dict[int, list[int]]:
    segments: dict[int, list[int]] = defaultdict(list)
    for number in numbers:
        segments[number >> SEGMENT_BITS].append(number & _PLACE)
    return segments


class _Worth:
    """What some episodes of a segment are worth: each as much as its best chunk."""

    def __init__(self, places: Sequence[int], norms: Sequence[float]) -> None:
        self._places, self._norms = places, norms
        self._bytes = itemgetter(*[place >> 3 for place in places], 0)
        self._bits = [1 << (place & 7) for place in places]
        self._first = [0.0] * len(places)
        self._later: dict[tuple[int, int], float] = {}

    def shown(self, mapped: bytes | bytearray | None) -> Sequence[int]:
        """Give which of the episodes stand in a map: the first is 0; all of them, if there is no map."""
        if mapped is None:
            return range(len(self._places))
        return [nth for nth, (byte, bit) in enumerate(zip(self._bytes(mapped), self._bits, strict=False)) if byte & bit]

    def add(self, listed: PostingList, weight: float, nths: Sequence[int]) -> None:
        """Add what a term is worth to some of the episodes, which are found by binary search."""
        held, chunk_of, freqs, lengths = listed
        first, later, norms, size, numbered = self._first, self._later, self._norms, len(held), len(chunk_of)
        places = list(map(self._places.__getitem__, nths))
        for nth, place, at in zip(nths, places, map(bisect_left, repeat(held), places), strict=False):
            if at >= size or held[at] != place:
                continue
            freq = freqs[at]
            if at >= numbered:
                first[nth] += weight * freq / (freq + norms[lengths[at]])
                continue
            end = bisect_right(held, place, at)
            for one, chunk in zip(range(at, end), chunk_of[at:end].ljust(end - at, b"\0"), strict=True):
                gain = weight * freqs[one] / (freqs[one] + norms[lengths[one]])
                if chunk:
                    later[nth, chunk] = later.get((nth, chunk), 0.0) + gain
                else:
                    first[nth] += gain

    def best(self) -> Iterable[tuple[int, float]]:
        """Give the episodes that are worth something."""
        best = self._first.copy()
        for (nth, _), score in self._later.items():
            best[nth] = max(best[nth], score)
        return ((place, score) for place, score in zip(self._places, best, strict=True) if score)
