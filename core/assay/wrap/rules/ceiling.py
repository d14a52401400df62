"""B22-B25: how far evidence of a kind carries a belief."""

from __future__ import annotations

from dataclasses import dataclass

from assay.beliefs.grounds import Ground, GroundClass, independent
from assay.model.labels import Mark
from assay.wrap.rules.case import Case, Window
from assay.wrap.rules.claims import name_is_label

__all__ = ["Ceiling", "ceiling"]

_CONVERSATION = frozenset({GroundClass.USER, GroundClass.SELF})
_WITNESSED = frozenset({GroundClass.OUTCOME, GroundClass.OPERATOR})


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The highest level that the evidence allows, and the rule that holds it there."""

    level: int
    rule: str
    why: str
    mark: Mark | None = None


def ceiling(case: Case, grounds: tuple[Ground, ...], window: Window) -> Ceiling:
    """Give how far a line may rise on its new grounds together with those it had."""
    past = case.history.counted if case.history else ()
    whole = tuple({ground.ref: ground for ground in (*past, *grounds)}.values())
    cap = window.settings.conversation_cap
    if independent(whole) < 2:
        return Ceiling(1, "single-source", "a second, independent episode is needed: another session or another source")
    kinds = {ground.kind for ground in whole}
    if not (kinds & _WITNESSED or (GroundClass.TOOL in kinds and kinds & _CONVERSATION)):
        if GroundClass.USER in kinds:
            return Ceiling(
                cap, "user-only", f"past {cap}x it needs an outcome or an independent source", Mark.USER_ONLY
            )
        return Ceiling(
            cap, "self-grounded", f"past {cap}x it needs an outcome or an independent source", Mark.SELF_GROUNDED
        )
    if name_is_label(case, [ground.text for ground in grounds]):
        return Ceiling(2, "level-capped", "past 2x the line needs a text that can be compared with its evidence")
    wraps = (case.history.wraps_verified if case.history else 0) + 1
    return Ceiling(1 + wraps, "level-capped", f"it was verified in {wraps} wraps")
