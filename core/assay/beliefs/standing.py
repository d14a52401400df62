"""Take back what evidence no longer carries: after an episode is erased, replaced in trust or quarantined."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from assay.beliefs.grounds import Ground
from assay.beliefs.history import History, Past, histories
from assay.beliefs.saving import revise
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

    A belief that was lowered in this way gets back what its evidence carries again.

    Returns:
        The names of the beliefs whose level changed.
    """
    refs = [row["belief"] for row in tx.find("evidence", {"episode": list(dict.fromkeys(episodes))})]
    keys = [row["name_key"] for row in tx.find("belief", {"id": list(dict.fromkeys(refs))})] if refs else []
    found = histories(tx, keys).items()
    return [history.belief.name for key, history in found if key in keys and _settle(tx, history)]


def _settle(tx: Transaction, history: History) -> bool:
    belief, setting = history.belief, f"revoked:{history.belief.ref}"
    top = max(belief.level, tx.setting(setting) or 0)
    level = standing_level(history.past, top)
    if level == belief.level:
        return False
    marks = [mark.value for mark in belief.marks if mark is not Mark.REVOKED]
    marks += [Mark.REVOKED.value] if level < top else []
    revise(tx, belief, level=level, marks=json.dumps(marks))
    tx.put_setting(setting, top if level < top else None)
    return True
