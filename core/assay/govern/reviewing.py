"""J4: what the operator has not looked at since its evidence was last verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.beliefs.grounds import independent
from assay.beliefs.history import histories
from assay.beliefs.loading import all_beliefs, find_belief
from assay.model.belief import Belief
from assay.model.labels import Mark
from assay.model.times import to_us
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction
from assay.text import skeleton

__all__ = ["ToReview", "reviewed", "to_review"]

_DOUBTS = (Mark.CONTESTED, Mark.USER_ONLY, Mark.SELF_GROUNDED, Mark.SHARED_EVIDENCE)
_SINGLE = "single-source"


@dataclass(frozen=True, slots=True)
class ToReview:
    """A belief that waits for the operator, and what speaks for looking at it soon.

    Attributes:
        reasons: Of `contested`, `user-only`, `self-grounded`, `single-source` and `shared-evidence`, those that hold.
    """

    belief: Belief
    reasons: tuple[str, ...]


def reviewed(database: Database, name: str) -> Belief:
    """Note that the operator looked at a belief; it waits again once more evidence is verified.

    Raises:
        NotFound: No belief, or several, have this name or ref.
    """

    def write(tx: Transaction) -> Belief:
        belief = find_belief(tx, name)
        tx.entry("belief", actor="host", data={"verb": "reviewed", "belief": belief.ref})
        tx.put_setting(_setting(belief), tx.now)
        return belief

    return database.mutate(write)


def to_review(reader: Reader) -> Sequence[ToReview]:
    """List the beliefs at 2x or more that were verified since they were last reviewed, doubtful ones first."""
    waiting = [one for one in all_beliefs(reader) if one.level > 1 and _is_due(reader, one)]
    known = histories(reader, (skeleton(one.name) for one in waiting))
    found: list[ToReview] = []
    for belief in waiting:
        history = known.get(skeleton(belief.name))
        alone = history is not None and history.belief.ref == belief.ref and independent(history.counted) < 2
        doubts = tuple(mark.value for mark in _DOUBTS if mark in belief.marks)
        found.append(ToReview(belief, (*doubts, _SINGLE) if alone else doubts))
    return sorted(found, key=lambda one: (not one.reasons, -len(one.reasons), one.belief.section, one.belief.position))


def _is_due(reader: Reader, belief: Belief) -> bool:
    seen: int | None = reader.setting(_setting(belief))
    return seen is None or (belief.verified_at is not None and to_us(belief.verified_at) > seen)


def _setting(belief: Belief) -> str:
    return f"reviewed:{belief.ref}"
