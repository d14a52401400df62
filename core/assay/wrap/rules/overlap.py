"""B17: an explanation that retells an earlier one raises nothing."""

from __future__ import annotations

from assay.beliefs.history import History
from assay.model.constants import OVERLAP_WORDS
from assay.text import content_set, fold
from assay.wrap.rules.case import Case, Pair, Step, Window

__all__ = ["fresh"]


def fresh(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void a raise whose every explanation shares three words beyond the claim with an earlier explanation.

    A level once reached is kept with the same words: that preserves, it does not raise.
    """
    history = case.history
    if history is None or not case.raising:
        return Step(pairs)
    claim = content_set(case.claim)
    earlier = [content_set(text) - claim for text in history.explanations]
    reached = case.line.level <= history.belief.highest
    kept = [
        pair
        for pair in pairs
        if all(len(content_set(pair.explanation) & words) < OVERLAP_WORDS for words in earlier)
        or (reached and _preserves(pair, history, recent=window.recent(history)))
    ]
    fix = "explain what the new episode adds, or cite another one; the same words count once"
    message = "the explanation repeats one that was counted before"
    return Step.kept(pairs, kept, lambda: case.found("overlap", message, fix))


def _preserves(pair: Pair, history: History, *, recent: bool) -> bool:
    if any(fold(pair.explanation) == fold(text) for text in history.explanations):
        return True
    known = {word for text in history.explanations for word in content_set(text)}
    return recent and bool((content_set(pair.explanation) & content_set(pair.ground.text)) - known)
