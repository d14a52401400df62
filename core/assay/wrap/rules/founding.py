"""B27: what a new line without a citation rests on, found by the engine."""

from __future__ import annotations

from assay.beliefs.grounds import Ground
from assay.model.constants import CLAIM_COVER
from assay.text import agrees, covers, values
from assay.wrap.rules.case import Case, Window
from assay.wrap.rules.grounding import shares_words

__all__ = ["founding"]

_MAX = 4


def founding(case: Case, window: Window) -> tuple[Ground, ...]:
    """Give the episodes of the window that state a new line, at most four, the earliest first."""
    claim = case.claim
    wanted = values(case.line.text)
    found: list[Ground] = []
    for ground in window.grounds.values():
        if ground.blocked or not shares_words(ground.text, claim, window.weights):
            continue
        stated = values(ground.text) if wanted else ()
        if (
            covers(ground.text, claim, window.weights) >= CLAIM_COVER
            and all(any(value.matches(other) for other in stated) for value in wanted)
            and agrees(claim, ground.text)
        ):
            found.append(ground)
    return tuple(sorted(found, key=lambda one: one.n)[:_MAX])
