"""Ranking by words: BM25 over posting lists, then the signals that conversations give.

BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 = 0.9 and b = 0.75 over chunks of
48 terms; an episode is worth its best chunk. The weights of the other signals were fitted on half of the LoCoMo and
BEAM conversations.
"""

from __future__ import annotations

import heapq
import math
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat

from assay.recall.index import IndexedText, TailCache, length_of, term_codes
from assay.recall.slices import Sums, bits_of, highest, places_of
from assay.storage import index_rows
from assay.storage.index_rows import SEGMENT_BITS, Posting, PostingList
from assay.storage.reader import Reader

__all__ = ["Deadline", "Ranked", "rank"]

_K1 = 0.9
_B = 0.75
_SPEAKER = 0.6  # the question names who speaks
_OWN = 1.5  # the question says I, and the user speaks
# Share of the score of what stands so far before or behind in the same session.
_BESIDE = {-2: 0.2, -1: 0.4, 1: 0.3, 2: 0.2}
_SESSION = 0.2
# Candidates are chosen by points, so many for an episode that holds every word.
_POINTS = 127
_CANDIDATES = 2  # for each episode that is ranked
_MOST_TERMS = 48  # a goal of hundreds of words is what its rarest words say
_FIRST_PERSON = frozenset(["i", "me", "my", "mine", "myself", "we", "us", "our", "ours"]) | frozenset(
    ["ich", "mein", "je", "mon", "yo", "mi", "я", "мой", "我", "私"]
)
_PLACE = (1 << SEGMENT_BITS) - 1


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
class Ranked:
    """An episode by number, and the signals that sum to its score."""

    number: int
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The terms of a question with their weights, and where they occur."""

    weights: Mapping[str, float]
    postings: Mapping[str, Mapping[int, Posting]]  # by segment
    norms: Sequence[float]  # the length part of BM25, by length code


class _Flushed:
    """The episodes in the segments of the index, asked for the terms of a question."""

    def __init__(self, reader: Reader, asked: _Asked, deadline: Deadline) -> None:
        self._reader, self._asked, self._deadline = reader, asked, deadline
        self._lists: dict[Posting, PostingList] = {}

    def candidates(self, count: int) -> list[int]:
        """Give the numbers of the episodes, so many, that hold the most of the question's weight."""
        weights = self._asked.weights
        share = _POINTS / sum(weights.values()) if weights else 0.0
        points = {
            posting: round(share * weight)
            for term, weight in weights.items()
            for posting in self._asked.postings[term].values()
            if round(share * weight)
        }
        maps = index_rows.maps(self._reader, points)
        ends = {posting: len(maps.get(posting, b"")) << 3 for posting in points}
        self._read(posting for posting, end in ends.items() if end <= _PLACE)
        sums: dict[int, Sums] = defaultdict(Sums)
        for posting, worth in points.items():
            self._deadline.check()
            bits, end = int.from_bytes(maps.get(posting, b""), "little"), ends[posting]
            if end <= _PLACE:
                places = self._lists[posting].places
                bits |= bits_of(places[bisect_left(places, end) :] if end else places)
            sums[posting.segment].add(bits, worth)
        chosen = highest(sums, count)
        return [(segment << SEGMENT_BITS) + place for segment, bits in chosen.items() for place in places_of(bits)]

    def scores(self, numbers: Iterable[int]) -> dict[int, float]:
        """Give the scores of those of some episodes that share a word: each that of its best chunk."""
        segments: dict[int, list[int]] = defaultdict(list)
        for number in numbers:
            segments[number >> SEGMENT_BITS].append(number & _PLACE)
        held = [
            (segment, self._asked.postings[term][segment], weight)
            for term, weight in self._asked.weights.items()
            for segment in segments.keys() & self._asked.postings[term].keys()
        ]
        self._read(posting for _, posting, _ in held)
        chunks: dict[int, dict[int, float]] = defaultdict(dict)
        for segment, posting, weight in held:
            self._deadline.check()
            _add(chunks[segment], segments[segment], self._lists[posting], weight, self._asked.norms)
        best: dict[int, float] = {}
        for segment, scores in chunks.items():
            base = segment << SEGMENT_BITS
            for key, score in scores.items():
                number = base + (key & _PLACE)
                if score > best.get(number, 0.0):
                    best[number] = score
        return best

    def _read(self, postings: Iterable[Posting]) -> None:
        unread = [posting for posting in postings if posting not in self._lists]
        self._lists |= index_rows.read_postings(self._reader, unread)


def _add(
    chunks: dict[int, float], places: Sequence[int], listed: PostingList, weight: float, norms: Sequence[float]
) -> None:
    """Add what a term is worth to the chunks of some episodes, found by binary search."""
    held, size, numbered = listed.places, len(listed.places), len(listed.chunks)
    for place, at in zip(places, map(bisect_left, repeat(held), places), strict=False):
        while at < size and held[at] == place:
            key = place + (listed.chunks[at] << SEGMENT_BITS) if at < numbered else place
            freq = listed.freqs[at]
            chunks[key] = chunks.get(key, 0.0) + weight * freq / (freq + norms[listed.lengths[at]])
            at += 1


def rank(reader: Reader, text: str, cache: TailCache, *, width: int, deadline: Deadline) -> list[Ranked]:
    """Give up to `width` episodes that share words with a text, best first.

    Raises:
        TimeoutError: The deadline passed.
    """
    from assay.text import query_terms

    terms = query_terms(text)
    if not terms:
        return []
    flushed, recent = _words(reader, terms, cache, deadline)
    found = flushed.scores(flushed.candidates(_CANDIDATES * width)) | recent
    best = heapq.nlargest(width, found, key=lambda number: (found[number], number))
    around = dict.fromkeys(number + step for number in best for step in (0, *_BESIDE))
    found |= flushed.scores(number for number in around if number not in found)
    base = {number: found.get(number, 0.0) for number in around}
    lifts = cache.likeness.lifts(reader, text, base) if cache.likeness is not None else {}
    return _conversation(reader, text, base, lifts, width)


def _words(
    reader: Reader, terms: Sequence[str], cache: TailCache, deadline: Deadline
) -> tuple[_Flushed, dict[int, float]]:
    """Weigh the words of a question; give the index asked for them, and the scores of what is behind it."""
    state = index_rows.state(reader)
    recent = [
        (number, cache.get(number, content, happened, source))
        for number, content, happened, source in index_rows.tail(reader, state.flushed)
    ]
    codes = term_codes(reader, terms)
    named = {code: term for term, code in codes.items()}
    postings: dict[str, dict[int, Posting]] = {term: {} for term in terms}
    for posting in index_rows.lookup(reader, list(named)):
        postings[named[posting.term]][posting.segment] = posting
    frequency = {
        term: sum(posting.df for posting in postings[term].values()) + sum(text.holds(term) for _, text in recent)
        for term in terms
    }
    sizes = [size for _, text in recent for _, size in text.chunks]
    mean = max(1.0, (state.length + sum(sizes)) / max(1, state.chunks + len(sizes)))
    rarest = sorted(filter(frequency.get, terms), key=lambda term: frequency[term])[:_MOST_TERMS]
    asked = _Asked(
        {term: _idf(frequency[term], state.docs + len(recent)) * (_K1 + 1) for term in rarest},
        postings,
        [_K1 * (1 - _B + _B * length_of(code) / mean) for code in range(256)],
    )
    scored = {number: score for number, text in recent if (score := _recent_score(asked.weights, text, mean))}
    return _Flushed(reader, asked, deadline), scored


def _recent_score(weights: Mapping[str, float], text: IndexedText, mean: float) -> float:
    best = 0.0
    for counts, size in text.chunks:
        norm = _K1 * (1 - _B + _B * size / mean)
        shared = (term for term in weights if term in counts)
        best = max(best, sum(weights[term] * counts[term] / (counts[term] + norm) for term in shared))
    return best


def _idf(frequency: int, total: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _conversation(
    reader: Reader, text: str, base: Mapping[int, float], lifts: Mapping[int, float], width: int
) -> list[Ranked]:
    """Add who speaks, what stands beside, and how well the session as a whole fits."""
    rows = index_rows.candidates(reader, sorted(base))
    speaking = _speaking(text)
    spoken: dict[int, float] = {}
    top: dict[str, float] = {}
    for number, (session, source, origin) in rows.items():
        if words := base[number]:
            score = spoken[number] = (words + lifts.get(number, 0.0)) * (1 + speaking(source, origin))
            if session and score > top.get(session, 0.0):
                top[session] = score
    beside = _beside(spoken, rows)
    scores: dict[int, float] = {}
    for number, (session, _, _) in rows.items():
        own = spoken.get(number)
        score = lifts.get(number, 0.0) if own is None else own + _SESSION * top.get(session, 0.0)
        scores[number] = score + beside.get(number, 0.0)
    best = heapq.nlargest(width, (item for item in scores.items() if item[1]), key=lambda item: (item[1], item[0]))
    ranked: list[Ranked] = []
    for number, _ in best:
        words, lift, near = base[number], lifts.get(number, 0.0), beside.get(number, 0.0)
        signals = {"words": words, "speaker": spoken[number] - words - lift} if words else {}
        signals |= {"likeness": lift} if lift else {}
        signals |= {"beside": near} if near else {}
        signals |= {"session": _SESSION * top[rows[number][0]]} if words and rows[number][0] else {}
        ranked.append(Ranked(number, signals))
    return ranked


def _beside(spoken: Mapping[int, float], rows: Mapping[int, tuple[str, str, str]]) -> dict[int, float]:
    """Give what episodes gain from the scores of what stands near in the same session."""
    gains: dict[int, float] = {}
    for number, score in spoken.items():
        session = rows[number][0]
        for step, share in _BESIDE.items() if session else ():
            near = number - step
            if near in rows and rows[near][0] == session:
                gains[near] = gains.get(near, 0.0) + share * score
    return gains


def _speaking(text: str) -> Callable[[str, str], float]:
    """Give the function that tells how much more a turn counts for who said it."""
    asked = frozenset(text.casefold().replace("'", " ").replace("?", " ").split())
    own = not asked.isdisjoint(_FIRST_PERSON)

    @cache
    def share(source: str, origin: str) -> float:
        named = any(part.casefold() in asked for part in source.replace(":", " ").split())
        return _SPEAKER * named + _OWN * (own and origin == "user")

    return share
