"""B17: an explanation that retells an earlier one raises nothing."""

from __future__ import annotations

from assay.model.constants import OVERLAP_WORDS
from assay.model.finding import Action
from assay.text import content_set, fold
from assay.wrap.rules.case import Case, Pair, Step, Window

__all__ = ["fresh"]


def fresh(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void a raise whose every explanation shares three words beyond the claim with an earlier explanation.

    A level once reached is kept with the same words: that preserves, it does not raise.
    """
    if case.history is None or not case.raising:
        return Step(pairs)
    earlier = [content_set(text) for text in case.history.explanations]
    claim = content_set(case.claim)
    kept = tuple(
        pair for pair in pairs if not _retold(pair.explanation, earlier, claim) or _preserves(case, pair, window)
    )
    if kept:
        return Step(kept, tuple(pair.ground.ref for pair in pairs if pair not in kept))
    fix = "explain what the new episode adds, or cite another one; the same words count once"
    finding = case.finding("overlap", Action.LOWER, "the explanation repeats one that was counted before", fix)
    return Step((), tuple(pair.ground.ref for pair in pairs), "overlap", (finding,))


def _retold(explanation: str, earlier: list[frozenset[str]], claim: frozenset[str]) -> bool:
    mine = content_set(explanation) - claim
    return any(len(mine & other) >= OVERLAP_WORDS for other in earlier)


def _preserves(case: Case, pair: Pair, window: Window) -> bool:
    history = case.history
    if history is None or case.line.level > history.belief.highest:
        return False
    if any(fold(pair.explanation) == fold(text) for text in history.explanations):
        return True
    known = {word for text in history.explanations for word in content_set(text)}
    days = window.settings.carry_days
    recent = history.verified is not None and days is not None and (window.date - history.verified).days <= days
    return recent and bool((content_set(pair.explanation) & content_set(pair.ground.text)) - known)
