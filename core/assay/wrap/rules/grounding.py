"""B6, B7: a citation needs an explanation, and the explanation must be in the episode."""

from __future__ import annotations

from collections.abc import Callable

from assay.model.constants import GROUND_COVER, GROUND_TOP, GROUND_WEIGHT, GROUND_WORDS, SPAN_CHARS, SPAN_WORDS
from assay.model.finding import Action
from assay.text import content_set, covers, fold, words
from assay.wrap.rules.case import Case, Pair, Step, Window

__all__ = ["explained", "grounding", "shares_words"]


def explained(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Drop citations that do not say what the episode shows."""
    kept = tuple(pair for pair in pairs if pair.explanation)
    if kept:
        return Step(kept, tuple(pair.ground.ref for pair in pairs if not pair.explanation))
    fix = 'after the refs, quote words of the episode: [evidence: REF "words copied from it"]'
    finding = case.finding("explanation-missing", Action.LOWER, "the citation does not say what the episode shows", fix)
    return Step((), failed="explanation-missing", findings=(finding,))


def grounding(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Drop citations whose explanation is not in the episode: no copied span, and too few shared words of weight."""
    kept = tuple(pair for pair in pairs if _grounded(pair, window.weights))
    dropped = tuple(pair.ground.ref for pair in pairs if pair not in kept)
    if kept:
        return Step(kept, dropped)
    refs = ", ".join(window.shown.get(ref, ref) for ref in dropped)
    fix = f"quote words that stand in {refs}, or cite the episode that says it"
    finding = case.finding("ungrounded", Action.LOWER, f"the explanation does not occur in {refs}", fix)
    return Step((), dropped, "ungrounded", (finding,))


def shares_words(episode: str, text: str, weights: Callable[[str], float]) -> bool:
    """Tell whether a text shares enough words of enough weight with an episode."""
    shared = [weights(word) for word in content_set(episode) & content_set(text)]
    return (
        len(shared) >= GROUND_WORDS
        and sum(shared) >= GROUND_WEIGHT
        and max(shared) >= GROUND_TOP
        and covers(episode, text, weights) >= GROUND_COVER
    )


def _grounded(pair: Pair, weights: Callable[[str], float]) -> bool:
    return _copies(pair.ground.text, pair.explanation) or shares_words(pair.ground.text, pair.explanation, weights)


def _copies(episode: str, text: str) -> bool:
    """Tell whether a run of words is copied from the episode and holds two content words."""
    listed = words(text)
    if len(listed) < SPAN_WORDS:
        folded = fold(text)
        return len(folded) >= SPAN_CHARS and len(content_set(text)) >= 2 and folded in fold(episode)
    source = words(episode)
    runs = set(zip(*(source[start:] for start in range(SPAN_WORDS)), strict=False))
    run: list[str] = []
    for start in range(len(listed) - SPAN_WORDS + 1):
        if tuple(listed[start : start + SPAN_WORDS]) in runs:
            run = [*run, listed[start + SPAN_WORDS - 1]] if run else listed[start : start + SPAN_WORDS]
            if len(content_set(" ".join(run))) >= 2:
                return True
        else:
            run = []
    return False
