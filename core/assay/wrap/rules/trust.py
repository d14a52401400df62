"""B14, B15: external words count for nothing, tools alone are not enough, and what counts must say the claim."""

from __future__ import annotations

from assay.beliefs.grounds import GroundClass
from assay.text import content_set
from assay.wrap.rules.case import Case, Pair, Step, Window

__all__ = ["trusted"]


def trusted(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Drop blocked grounds; void the citation when nothing is left that may carry the claim."""
    counted = [pair for pair in pairs if not pair.ground.blocked]
    blocked = [pair for pair in pairs if pair.ground.blocked]
    kinds = {ground.kind for ground in (*case.past, *(pair.ground for pair in counted))}
    claim = content_set(case.claim)
    said, own = (
        {word for pair in some for word in content_set(pair.ground.text)} & claim for some in (blocked, counted)
    )
    why = ""
    if not counted:
        why = "every cited episode is external"
    elif kinds == {GroundClass.TOOL}:
        why = "only tools say it"
    elif said - own:
        why = "only an external episode says it; the others are on the same topic"
    fix = "leave the level as it is until an episode of the user, the agent or a witnessed outcome says the same"
    return Step.kept(pairs, [] if why else counted, lambda: case.found("uncorroborated", why, fix))
