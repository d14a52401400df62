"""B14, B15: external words count for nothing, tools alone are not enough, and what counts must say the claim."""

from __future__ import annotations

from assay.beliefs.grounds import GroundClass
from assay.model.finding import Action
from assay.text import content_set
from assay.wrap.rules.case import Case, Pair, Step, Window

__all__ = ["trusted"]


def trusted(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Drop blocked grounds; void the citation when nothing is left that may carry the claim."""
    counted = tuple(pair for pair in pairs if not pair.ground.blocked)
    blocked = [pair for pair in pairs if pair.ground.blocked]
    if not counted:
        return _uncorroborated(case, blocked, "every cited episode is external")
    past = case.history.counted if case.history else ()
    if {ground.kind for ground in (*past, *(pair.ground for pair in counted))} == {GroundClass.TOOL}:
        return _uncorroborated(case, blocked, "only tools say it")
    claim = content_set(case.claim)
    lifted = {word for pair in blocked for word in content_set(pair.ground.text)} & claim
    own = {word for pair in counted for word in content_set(pair.ground.text)}
    if lifted - own:
        return _uncorroborated(case, blocked, "only an external episode says it; the others are on the same topic")
    return Step(counted, tuple(pair.ground.ref for pair in blocked))


def _uncorroborated(case: Case, blocked: list[Pair], why: str) -> Step:
    fix = "leave the level as it is until an episode of the user, the agent or a witnessed outcome says the same"
    finding = case.finding("uncorroborated", Action.LOWER, why, fix, fixable=False)
    return Step((), tuple(pair.ground.ref for pair in blocked), "uncorroborated", (finding,))
