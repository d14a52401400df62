"""B22-B25: how far evidence of a kind carries a belief."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.beliefs.grounds import Ground, GroundClass, independent
from assay.model.labels import Mark

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


def ceiling(grounds: Sequence[Ground], wraps: int, cap: int, *, labelled: bool) -> Ceiling:
    """Give how far a belief may rise on all its counted grounds.

    Args:
        grounds: What counts: the evidence so far and the new one.
        wraps: Number of wraps that verified it, this one included.
        cap: How far words of user and agent alone carry.
        labelled: Whether its name is a mere label that cannot be compared with the evidence.
    """
    if independent(grounds) < 2:
        return Ceiling(1, "single-source", "a second, independent episode is needed: another session or another source")
    kinds = {ground.kind for ground in grounds}
    if not (kinds & _WITNESSED or (GroundClass.TOOL in kinds and kinds & _CONVERSATION)):
        said = GroundClass.USER in kinds
        mark = Mark.USER_ONLY if said else Mark.SELF_GROUNDED
        return Ceiling(cap, mark.value, f"past {cap}x it needs an outcome or an independent source", mark)
    if labelled:
        return Ceiling(2, "level-capped", "past 2x the line needs a text that can be compared with its evidence")
    return Ceiling(1 + wraps, "level-capped", f"it was verified in {wraps} wraps")
