"""Take back what evidence no longer carries: after an episode is erased, replaced in trust or quarantined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.beliefs.grounds import Ground
from assay.beliefs.history import History, Past, histories
from assay.beliefs.saving import change
from assay.model.labels import Mark
from assay.storage.transaction import Transaction

__all__ = ["recheck", "standing_level"]


def standing_level(past: Sequence[Past], held: int) -> int:
    """Give the highest level below which every earned step still has a ground that counts.

    Levels that no evidence row explains (imported ones) stand by themselves.
    """
    steps: dict[int, list[Ground]] = {}
    for link in past:
        steps.setdefault(link.earned, []).append(link.ground)
    raised = [level for level in sorted(steps) if level > 1]
    for level in raised:
        if all(ground.blocked for ground in steps[level]):
            return max(1, min(held, level - 1))
    return held


def recheck(tx: Transaction, episodes: Iterable[str]) -> list[str]:
    """Lower, in the caller's audit entry, every belief that some episodes no longer carry.

    Returns:
        The names of the beliefs that were lowered.
    """
    refs = [row["belief"] for row in tx.find("evidence", {"episode": list(dict.fromkeys(episodes))})]
    keys = [row["name_key"] for row in tx.find("belief", {"id": list(dict.fromkeys(refs))})] if refs else []
    lowered: list[str] = []
    for key, history in histories(tx, keys).items():
        if key in keys and _lower(tx, history):
            lowered.append(history.belief.name)
    return lowered


def _lower(tx: Transaction, history: History) -> bool:
    belief = history.belief
    level = standing_level(history.past, belief.level)
    if level >= belief.level:
        return False
    change(tx, belief, belief.residence, Mark.REVOKED, level=level)
    return True
