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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

from assay.recall.index import IndexedText, TailCache, length_of, term_codes
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
# Postings read per query before common terms only complete the candidates that rarer ones brought.
_BUDGET = 32_000
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


@dataclass(slots=True)
class Ranked:
    """An episode by number, and the signals that sum to its score."""

    number: int
    signals: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def score(self) -> float:
        """Sum the signals."""
        return sum(self.signals.values())


@dataclass(slots=True)
class _Asked:
    """The terms of a question with their weights, rarest first, and where they occur."""

    weights: dict[str, float]
    frequency: Mapping[str, int]
    postings: Mapping[str, Sequence[Posting]]
    norms: Sequence[float]  # the length part of BM25, by length code

    def gains(self, term: str, listed: PostingList) -> list[float]:
        """Give what a term adds to each chunk of a list."""
        weight, norms = self.weights[term], self.norms
        pairs = zip(listed.freqs, listed.lengths, strict=True)
        if len(listed.freqs) < len(norms):
            return [weight * freq / (freq + norms[code]) for freq, code in pairs]
        once = [weight / (1 + norm) for norm in norms]
        return [once[code] if freq == 1 else weight * freq / (freq + norms[code]) for freq, code in pairs]


class _Scores:
    """The scores of chunks: by segment, then by place with the number of the chunk above its bits."""

    def __init__(self) -> None:
        self.segments: dict[int, dict[int, float]] = {}
        self._most = 0  # chunks of one episode, but for the first

    def add(self, segment: int, listed: PostingList, gains: Sequence[float]) -> None:
        """Add gains to the chunks of a list."""
        keys: Sequence[int] = listed.places
        if listed.chunks:
            self._most = max(self._most, max(listed.chunks))
            chunks = listed.chunks.ljust(len(keys), b"\0")
            keys = [place + (chunk << SEGMENT_BITS) for place, chunk in zip(keys, chunks, strict=True)]
        if segment not in self.segments:
            self.segments[segment] = dict(zip(keys, gains, strict=True))
            return
        known = self.segments[segment]
        get = known.get
        for key, gain in zip(keys, gains, strict=True):
            known[key] = get(key, 0.0) + gain

    def put(self, number: int, chunk: int, score: float) -> None:
        """Set the score of one chunk."""
        self._most = max(self._most, chunk)
        known = self.segments.setdefault(number >> SEGMENT_BITS, {})
        known[(number & _PLACE) + (chunk << SEGMENT_BITS)] = score

    def keep(self, count: int) -> None:
        """Forget all but about so many of the best."""
        floor = self._floor(count)
        for segment, known in self.segments.items():
            self.segments[segment] = {key: score for key, score in known.items() if score >= floor}

    def best(self, count: int) -> list[int]:
        """Give the numbers of the episodes of about so many of the best chunks, best first."""
        floor = self._floor(count)
        found = [
            (score, (segment << SEGMENT_BITS) + (key & _PLACE))
            for segment, known in self.segments.items()
            for key, score in known.items()
            if score >= floor
        ]
        return list(dict.fromkeys(number for _, number in sorted(found, reverse=True)))

    def of(self, number: int) -> float:
        """Give the score of an episode: that of its best chunk."""
        known = self.segments.get(number >> SEGMENT_BITS)
        if known is None:
            return 0.0
        place = number & _PLACE
        if not self._most:
            return known.get(place, 0.0)
        return max(known.get(place + (chunk << SEGMENT_BITS), 0.0) for chunk in range(self._most + 1))

    def _floor(self, count: int) -> float:
        listed = heapq.nlargest(count, chain.from_iterable(known.values() for known in self.segments.values()))
        return listed[-1] if len(listed) == count else 0.0


def rank(reader: Reader, text: str, cache: TailCache, *, width: int, deadline: Deadline) -> list[Ranked]:
    """Give up to `width` episodes that share words with a text, best first.

    Raises:
        TimeoutError: The deadline passed.
    """
    from assay.text import query_terms

    terms = query_terms(text)
    if not terms:
        return []
    scores = _words(reader, terms, cache, width, deadline)
    around = dict.fromkeys(number + step for number in scores.best(2 * width)[:width] for step in (0, *_BESIDE))
    base = {number: scores.of(number) for number in around}
    lifts = cache.likeness.lifts(reader, text, base) if cache.likeness is not None else {}
    return _conversation(reader, text, base, lifts, width)


def _words(reader: Reader, terms: Sequence[str], cache: TailCache, width: int, deadline: Deadline) -> _Scores:
    """Score chunks by the words they share with the question."""
    state = index_rows.state(reader)
    recent = [
        (number, cache.get(number, content, happened, source))
        for number, content, happened, source in index_rows.tail(reader, state.flushed)
    ]
    codes = term_codes(reader, terms)
    named = {code: term for term, code in codes.items()}
    postings: dict[str, list[Posting]] = defaultdict(list)
    for posting in index_rows.lookup(reader, list(named)):
        postings[named[posting.term]].append(posting)
    frequency = {
        term: sum(posting.df for posting in postings[term]) + sum(text.holds(term) for _, text in recent)
        for term in terms
    }
    sizes = [size for _, text in recent for _, size in text.chunks]
    mean = max(1.0, (state.length + sum(sizes)) / max(1, state.chunks + len(sizes)))
    order = sorted((term for term in terms if frequency[term]), key=lambda term: frequency[term])
    asked = _Asked(
        {term: _idf(frequency[term], state.docs + len(recent)) * (_K1 + 1) for term in order},
        frequency,
        postings,
        [_K1 * (1 - _B + _B * length_of(code) / mean) for code in range(256)],
    )
    scores = _segments(reader, asked, width, deadline)
    for number, text in recent:
        _add_recent(scores, asked.weights, number, text, mean)
    return scores


def _add_recent(scores: _Scores, weights: Mapping[str, float], number: int, text: IndexedText, mean: float) -> None:
    for chunk, (counts, size) in enumerate(text.chunks):
        shared = [term for term in weights if term in counts]
        if shared:
            norm = _K1 * (1 - _B + _B * size / mean)
            score = sum(weights[term] * counts[term] / (counts[term] + norm) for term in shared)
            scores.put(number, chunk, score)


def _segments(reader: Reader, asked: _Asked, width: int, deadline: Deadline) -> _Scores:
    """Read the rarest terms first; when the budget is spent, only complete the best candidates."""
    scores, spent = _Scores(), 0
    order = list(asked.weights)
    for at, term in enumerate(order):
        deadline.check()
        if spent and spent + asked.frequency[term] > _BUDGET:
            scores.keep(2 * width)
            for common in order[at:]:
                _complete(reader, asked, common, scores, deadline)
            break
        for posting in asked.postings[term]:
            listed = index_rows.read_posting(reader, posting)
            scores.add(posting.segment, listed, asked.gains(term, listed))
            spent += posting.df
    return scores


def _complete(reader: Reader, asked: _Asked, term: str, scores: _Scores, deadline: Deadline) -> None:
    """Add a common term to the scores of chunks that are candidates already, by binary search."""
    weight = asked.weights[term]
    for posting in asked.postings[term]:
        known = scores.segments.get(posting.segment)
        if not known:
            continue
        deadline.check()
        listed = index_rows.read_posting(reader, posting)
        for key in known:
            at = _position(listed, key & _PLACE, key >> SEGMENT_BITS)
            if at is not None:
                freq = listed.freqs[at]
                known[key] += weight * freq / (freq + asked.norms[listed.lengths[at]])


def _position(listed: PostingList, place: int, chunk: int) -> int | None:
    places, chunks = listed.places, listed.chunks
    at = bisect_left(places, place)
    while at < len(places) and places[at] == place:
        if (chunks[at] if at < len(chunks) else 0) == chunk:
            return at
        at += 1
    return None


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
        if base[number]:
            score = spoken[number] = (base[number] + lifts.get(number, 0.0)) * (1 + speaking(source, origin))
            if session:
                top[session] = max(top.get(session, 0.0), score)
    ranked: list[Ranked] = []
    for number, (session, _, _) in rows.items():
        words, lift = base[number], lifts.get(number, 0.0)
        signals = {"words": words, "speaker": spoken[number] - words - lift} if words else {}
        if lift:
            signals["likeness"] = lift
        if session:
            for step, share in _BESIDE.items():
                other = number + step
                if other in spoken and rows[other][0] == session:
                    signals["beside"] = signals.get("beside", 0.0) + share * spoken[other]
            if words:
                signals["session"] = _SESSION * top[session]
        if signals:
            ranked.append(Ranked(number, signals))
    return heapq.nlargest(width, ranked, key=lambda item: (item.score, item.number))


def _speaking(text: str) -> Callable[[str, str], float]:
    """Give the function that tells how much more a turn counts for who said it."""
    asked = frozenset(text.casefold().replace("'", " ").replace("?", " ").split())
    own = not asked.isdisjoint(_FIRST_PERSON)

    @cache
    def share(source: str, origin: str) -> float:
        named = any(part.casefold() in asked for part in source.replace(":", " ").split())
        return _SPEAKER * named + _OWN * (own and origin == "user")

    return share
