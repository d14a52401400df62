"""Ranking by words: BM25 over posting lists, then the signals that conversations give.

BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 = 0.9 and b = 0.75. The
weights of the other signals were fitted on half of the LoCoMo conversations and held on the other half.
"""

from __future__ import annotations

import heapq
import math
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.recall.index import TailCache, length_of, term_codes
from assay.storage import index_rows
from assay.storage.index_rows import SEGMENT_BITS, Posting
from assay.storage.reader import Reader

__all__ = ["Deadline", "Ranked", "rank"]

_K1 = 0.9
_B = 0.75
_SPEAKER = 0.6
# Share of the score of what stands so far before or behind in the same session.
_BESIDE = {-2: 0.2, -1: 0.4, 1: 0.3, 2: 0.2}
_SESSION = 0.2
# Postings read per query before common terms only complete the candidates that rarer ones brought.
_BUDGET = 40_000
_FIRST_PERSON = frozenset(["i", "me", "my", "mine", "myself", "we", "us", "our", "ours"]) | frozenset(
    ["ich", "mein", "je", "mon", "yo", "mi", "я", "мой", "我", "私"]
)


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


def rank(reader: Reader, text: str, cache: TailCache, *, width: int, deadline: Deadline) -> list[Ranked]:
    """Give up to `width` episodes that share words with a text, best first.

    Raises:
        TimeoutError: The deadline passed.
    """
    from assay.text import query_terms

    terms = Counter(query_terms(text))
    if not terms:
        return []
    base = _words(reader, terms, cache, width, deadline)
    return _conversation(reader, text, base, width)


def _words(
    reader: Reader, terms: Mapping[str, int], cache: TailCache, width: int, deadline: Deadline
) -> dict[int, float]:
    state = index_rows.state(reader)
    recent = [
        (number, cache.get(number, content, happened, source))
        for number, content, happened, source in index_rows.tail(reader, state.flushed)
    ]
    postings: dict[str, list[Posting]] = defaultdict(list)
    codes = term_codes(reader, terms)
    named = {code: term for term, code in codes.items()}
    for posting in index_rows.lookup(reader, list(named)):
        postings[named[posting.term]].append(posting)
    frequency = {
        term: sum(posting.df for posting in postings[term]) + sum(term in text.terms for _, text in recent)
        for term in terms
    }
    total = state.docs + len(recent)
    mean = (state.length + sum(text.length for _, text in recent)) / max(1, total)
    weights = {term: _idf(frequency[term], total) * terms[term] for term in terms if frequency[term]}
    norms = [_K1 * (1 - _B + _B * length_of(code) / max(1.0, mean)) for code in range(256)]
    scores = _segments(reader, postings, weights, frequency, norms, width, deadline)
    for number, text in recent:
        norm = _K1 * (1 - _B + _B * text.length / max(1.0, mean))
        score = sum(
            weight * (_K1 + 1) * text.terms[term] / (text.terms[term] + norm)
            for term, weight in weights.items()
            if term in text.terms
        )
        if score:
            scores[number] = score
    return scores


def _segments(
    reader: Reader,
    postings: Mapping[str, Sequence[Posting]],
    weights: Mapping[str, float],
    frequency: Mapping[str, int],
    norms: Sequence[float],
    width: int,
    deadline: Deadline,
) -> dict[int, float]:
    """Read the rarest terms first; when the budget is spent, only complete the best candidates."""
    scores: dict[int, float] = {}
    get, spent = scores.get, 0
    order = sorted(weights, key=lambda term: frequency[term])
    for at, term in enumerate(order):
        deadline.check()
        if spent and spent + frequency[term] > _BUDGET:
            best = heapq.nlargest(2 * width, scores.items(), key=lambda item: item[1])
            return _complete(
                reader, postings, {term: weights[term] for term in order[at:]}, norms, dict(best), deadline
            )
        weight = weights[term] * (_K1 + 1)
        for posting in postings[term]:
            places, freqs, lengths = index_rows.read_posting(reader, posting)
            base = posting.segment << SEGMENT_BITS
            for place, freq, code in zip(places, freqs, lengths, strict=True):
                number = base + place
                scores[number] = get(number, 0.0) + weight * freq / (freq + norms[code])
            spent += posting.df
    return scores


def _complete(
    reader: Reader,
    postings: Mapping[str, Sequence[Posting]],
    weights: Mapping[str, float],
    norms: Sequence[float],
    scores: dict[int, float],
    deadline: Deadline,
) -> dict[int, float]:
    for term, weight in weights.items():
        deadline.check()
        for posting in postings[term]:
            places, freqs, lengths = index_rows.read_posting(reader, posting)
            base = posting.segment << SEGMENT_BITS
            for number in scores:
                place = number - base
                at = bisect_left(places, place) if 0 <= place < 1 << SEGMENT_BITS else len(places)
                if at < len(places) and places[at] == place:
                    scores[number] += weight * (_K1 + 1) * freqs[at] / (freqs[at] + norms[lengths[at]])
    return scores


def _idf(frequency: int, total: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _conversation(reader: Reader, text: str, base: Mapping[int, float], width: int) -> list[Ranked]:
    """Add who speaks, what stands beside, and how well the session as a whole fits."""
    best = heapq.nlargest(width, base, key=lambda number: (base[number], number))
    around = {number + step for number in best for step in (0, *_BESIDE)}
    rows = index_rows.candidates(reader, sorted(around))
    asked = set(text.casefold().replace("'", " ").replace("?", " ").split())
    own = bool(asked & _FIRST_PERSON)
    spoken: dict[int, float] = {}
    for number, (_, _, source, origin, _) in rows.items():
        named = any(part.casefold() in asked for part in source.replace(":", " ").split())
        speaker = _SPEAKER if named or (own and origin == "user") else 0.0
        spoken[number] = base.get(number, 0.0) * (1 + speaker)
    top: dict[str, float] = defaultdict(float)
    for number, (_, session, _, _, _) in rows.items():
        if session:
            top[session] = max(top[session], spoken[number])
    ranked: list[Ranked] = []
    for number, (_, session, _, _, _) in rows.items():
        signals = {"words": base.get(number, 0.0), "speaker": spoken[number] - base.get(number, 0.0)}
        if session:
            beside = 0.0
            for step, weight in _BESIDE.items():
                other = rows.get(number + step)
                if other is not None and other[1] == session:
                    beside += weight * spoken[number + step]
            signals["beside"] = beside
            signals["session"] = _SESSION * top[session] if spoken[number] else 0.0
        ranked.append(Ranked(number, {name: value for name, value in signals.items() if value}))
    found = [item for item in ranked if item.signals]
    return heapq.nlargest(width, found, key=lambda item: (item.score, item.number))
