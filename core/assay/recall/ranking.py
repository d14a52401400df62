"""Ranking: what the words of a question are worth, then the signals that conversations give.

The weights of these signals were fitted on half of the LoCoMo and BEAM conversations.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from assay.recall.scoring import Scorer
from assay.storage import index_rows
from assay.storage.reader import Reader

if TYPE_CHECKING:
    from assay.recall.dense.likeness import Likeness

__all__ = ["Ranked", "rank"]

_SPEAKER = 0.6  # the question names who speaks
_OWN = 1.5  # the question says I, and the user speaks
# Share of the score of what stands so far before or behind in the same session.
_BESIDE = {-2: 0.2, -1: 0.4, 1: 0.3, 2: 0.2}
_SESSION = 0.2
_CANDIDATES = 2  # for each episode that is ranked
_FIRST_PERSON = frozenset(["i", "me", "my", "mine", "myself", "we", "us", "our", "ours"]) | frozenset(
    ["ich", "mein", "je", "mon", "yo", "mi", "я", "мой", "我", "私"]
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """An episode by number, and the signals that sum to its score."""

    number: int
    signals: Mapping[str, float]


def rank(
    reader: Reader,
    text: str,
    scorer: Scorer,
    width: int,
    *,
    admitted: Callable[[Iterable[int]], Collection[int]] = list,
    likeness: Likeness | None = None,
) -> tuple[list[Ranked], bool]:
    """Give up to `width` episodes that share words with a text or stand beside one that does, best first.

    Args:
        scorer: Asked for the terms of the text.
        admitted: Gives those of some episodes, by number, that may be an answer; all of them by default.
        likeness: What an embedder adds.

    Returns:
        The episodes, and whether a wider look would find no others.

    Raises:
        TimeoutError: The deadline passed.
    """
    chosen = scorer.candidates(_CANDIDATES * width)
    found = scorer.scores(admitted(chosen)) | {number: scorer.recent[number] for number in admitted(scorer.recent)}
    best = heapq.nlargest(width, found, key=lambda number: (found[number], number))
    whole = len(best) == len(found) and len(chosen) < _CANDIDATES * width
    around = dict.fromkeys(number + step for number in best for step in (0, *_BESIDE))
    beside = [number for number in around if number not in found]
    answers = [*(number for number in around if number in found), *admitted(beside)]
    found |= scorer.scores(beside) | {number: scorer.recent[number] for number in beside if number in scorer.recent}
    base = {number: found.get(number, 0.0) for number in around}
    lifts = likeness.lifts(reader, text, base) if likeness is not None else {}
    return _conversation(reader, text, base, lifts, answers, width), whole


def _conversation(
    reader: Reader,
    text: str,
    base: Mapping[int, float],
    lifts: Mapping[int, float],
    answers: Iterable[int],
    width: int,
) -> list[Ranked]:
    """Add who speaks, what stands beside, and how well the session as a whole fits; give the best of some episodes."""
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
    for number in answers:
        if number in rows:
            own = spoken.get(number)
            score = lifts.get(number, 0.0) if own is None else own + _SESSION * top.get(rows[number][0], 0.0)
            scores[number] = score + beside.get(number, 0.0)
    ranked: list[Ranked] = []
    for number in heapq.nlargest(width, filter(scores.get, scores), key=lambda number: (scores[number], number)):
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
