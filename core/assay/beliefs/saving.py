"""Write beliefs and their evidence in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from assay.model.belief import Belief
from assay.model.constants import MAX_BELIEF_CHARS
from assay.model.episode import JsonValue
from assay.model.labels import BeliefKind, Mark, Residence
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.text import skeleton

__all__ = ["add", "add_evidence", "change", "move_evidence", "revise"]


def add(
    tx: Transaction,
    name: str,
    text: str,
    *,
    kind: BeliefKind = BeliefKind.PATTERN,
    residence: Residence = Residence.WORKING,
    section: str = "",
    position: int = 0,
    cues: Sequence[str] = (),
    level: int = 1,
) -> str:
    """Add a belief at level 1 (an import passes another) and give its id."""
    ref = tx.new_id("be")
    tx.insert(
        "belief",
        ref,
        {
            "name": name,
            "name_key": skeleton(name),
            "text": text[:MAX_BELIEF_CHARS],
            "kind": kind.value,
            "level": level,
            "highest": level,
            "residence": residence.value,
            "section": section,
            "position": position,
            "marks": "[]",
            "cues": json.dumps(list(cues), ensure_ascii=False),
            "created": tx.now,
            "verified": None,
            "wraps_verified": 0,
        },
    )
    return ref


def revise(tx: Transaction, belief: Belief, **columns: Value) -> None:
    """Change the columns of a belief that differ from what it holds; write nothing when none does."""
    row = tx.get("belief", belief.ref)
    if row is not None:
        different = {name: value for name, value in columns.items() if row[name] != value}
        if different:
            tx.update("belief", belief.ref, different)


def change(
    tx: Transaction,
    belief: Belief,
    *,
    level: int | None = None,
    residence: Residence | None = None,
    marks: Sequence[Mark] | None = None,
    verified: bool = False,
) -> None:
    """Set the level, residence or marks of a belief; `verified` counts one more wrap that verified it."""
    columns: dict[str, Value] = {}
    if level is not None:
        columns |= {"level": level, "highest": max(level, belief.highest)}
    if residence is not None:
        columns["residence"] = residence.value
    if marks is not None:
        columns["marks"] = json.dumps([mark.value for mark in marks])
    if verified:
        row = tx.get("belief", belief.ref)
        columns |= {"verified": tx.now, "wraps_verified": 1 + (row["wraps_verified"] if row else 0)}
    revise(tx, belief, **columns)


def add_evidence(
    tx: Transaction,
    belief: str,
    episode: str,
    *,
    wrap: int,
    explanation: str,
    earned: int,
    detail: Mapping[str, JsonValue],
) -> None:
    """Link a belief to an episode that was checked in a wrap."""
    tx.insert(
        "evidence",
        tx.new_id("ev"),
        {
            "belief": belief,
            "episode": episode,
            "wrap": wrap,
            "explanation": explanation,
            "earned": earned,
            "detail": json.dumps(detail, ensure_ascii=False, sort_keys=True),
        },
    )


def move_evidence(tx: Transaction, source: str, target: str) -> None:
    """Give the evidence of one belief to another, when the two are merged."""
    for row in tx.find("evidence", {"belief": source}):
        tx.update("evidence", row["id"], {"belief": target})
