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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.recall.index import IndexedText, TailCache, length_of, term_codes
from assay.storage import index_rows
from assay.storage.index_rows import MOST_CHUNKS, SEGMENT_BITS, Posting, PostingList
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
_BUDGET = 40_000
_FIRST_PERSON = frozenset(["i", "me", "my", "mine", "myself", "we", "us", "our", "ours"]) | frozenset(
    ["ich", "mein", "je", "mon", "yo", "mi", "я", "мой", "我", "私"]
)
_LAST_CHUNK = MOST_CHUNKS - 1
_CHUNK_BITS = 8  # a chunk is known by the number of its episode, shifted by so many bits, and its place in it


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
        weight = self.weights[term]
        norms = self.norms
        once = [weight / (1 + norm) for norm in norms] if len(listed.freqs) > len(norms) else []
        return [
            once[code] if freq == 1 and once else weight * freq / (freq + norms[code])
            for freq, code in zip(listed.freqs, listed.lengths, strict=True)
        ]


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
    return _conversation(reader, text, _episodes(scores, width), width)


def _episodes(scores: Mapping[int, float], width: int) -> dict[int, float]:
    """Give the score of the best episodes and of those around them: that of their best chunk."""
    keys = heapq.nlargest(2 * width, scores, key=lambda key: (scores[key], key))
    best = list(dict.fromkeys(key >> _CHUNK_BITS for key in keys))[:width]
    chunks = range(max((key & _LAST_CHUNK for key in keys), default=0) + 1)
    around = dict.fromkeys(number + step for number in best for step in (0, *_BESIDE))
    return {number: max(scores.get((number << _CHUNK_BITS) + chunk, 0.0) for chunk in chunks) for number in around}


def _words(reader: Reader, terms: Sequence[str], cache: TailCache, width: int, deadline: Deadline) -> dict[int, float]:
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


def _add_recent(
    scores: dict[int, float], weights: Mapping[str, float], number: int, text: IndexedText, mean: float
) -> None:
    for chunk, (counts, size) in enumerate(text.chunks):
        norm = _K1 * (1 - _B + _B * size / mean)
        score = sum(weights[term] * counts[term] / (counts[term] + norm) for term in weights if term in counts)
        if score:
            scores[(number << _CHUNK_BITS) + chunk] = score


def _segments(reader: Reader, asked: _Asked, width: int, deadline: Deadline) -> dict[int, float]:
    """Read the rarest terms first; when the budget is spent, only complete the best candidates."""
    scores: dict[int, float] = {}
    get, spent = scores.get, 0
    order = list(asked.weights)
    for at, term in enumerate(order):
        deadline.check()
        if spent and spent + asked.frequency[term] > _BUDGET:
            best = heapq.nlargest(2 * width, scores.items(), key=lambda item: item[1])
            return _complete(reader, asked, order[at:], dict(best), deadline)
        for posting in asked.postings[term]:
            listed = index_rows.read_posting(reader, posting)
            for key, gain in zip(_keys(posting.segment, listed), asked.gains(term, listed), strict=True):
                scores[key] = get(key, 0.0) + gain
            spent += posting.df
    return scores


def _keys(segment: int, listed: PostingList) -> list[int]:
    """Give the key of each chunk of a list."""
    base = segment << (SEGMENT_BITS + _CHUNK_BITS)
    keys = [base + (place << _CHUNK_BITS) for place in listed.places]
    for at, chunk in enumerate(listed.chunks):
        keys[at] += chunk
    return keys


def _complete(
    reader: Reader, asked: _Asked, terms: Sequence[str], scores: dict[int, float], deadline: Deadline
) -> dict[int, float]:
    """Add common terms to the scores of chunks that are candidates already, by binary search."""
    by_segment: dict[int, list[int]] = defaultdict(list)
    for key in scores:
        by_segment[key >> (SEGMENT_BITS + _CHUNK_BITS)].append(key)
    for term in terms:
        weight = asked.weights[term]
        for posting in asked.postings[term]:
            if posting.segment not in by_segment:
                continue
            deadline.check()
            listed = index_rows.read_posting(reader, posting)
            for key in by_segment[posting.segment]:
                at = _position(listed, (key >> _CHUNK_BITS) & ((1 << SEGMENT_BITS) - 1), key & _LAST_CHUNK)
                if at is not None:
                    freq = listed.freqs[at]
                    scores[key] += weight * freq / (freq + asked.norms[listed.lengths[at]])
    return scores


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


def _conversation(reader: Reader, text: str, base: Mapping[int, float], width: int) -> list[Ranked]:
    """Add who speaks, what stands beside, and how well the session as a whole fits."""
    rows = index_rows.candidates(reader, sorted(base))
    asked = set(text.casefold().replace("'", " ").replace("?", " ").split())
    own = bool(asked & _FIRST_PERSON)
    spoken: dict[int, float] = {}
    for number, (_, source, origin) in rows.items():
        named = any(part.casefold() in asked for part in source.replace(":", " ").split())
        speaker = _SPEAKER * named + _OWN * (own and origin == "user")
        spoken[number] = base[number] * (1 + speaker)
    top: dict[str, float] = defaultdict(float)
    for number, (session, _, _) in rows.items():
        if session:
            top[session] = max(top[session], spoken[number])
    ranked: list[Ranked] = []
    for number, (session, _, _) in rows.items():
        signals = {"words": base[number], "speaker": spoken[number] - base[number]}
        if session:
            signals["beside"] = sum(
                weight * spoken[number + step]
                for step, weight in _BESIDE.items()
                if number + step in rows and rows[number + step][0] == session
            )
            signals["session"] = _SESSION * top[session] if spoken[number] else 0.0
        ranked.append(Ranked(number, {name: value for name, value in signals.items() if value}))
    found = [item for item in ranked if item.signals]
    return heapq.nlargest(width, found, key=lambda item: (item.score, item.number))
