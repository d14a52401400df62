"""Write beliefs and their evidence in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.beliefs.grounds import Ground
from assay.model.belief import Belief
from assay.model.episode import JsonValue
from assay.model.labels import BeliefKind, Mark, Residence
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.text import skeleton

__all__ = ["Standing", "change", "move_evidence", "revise", "stand"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a belief stands after a wrap.

    Attributes:
        belief: The belief as it was, None for a new one.
        verified: Whether its evidence was verified in this wrap.
        grounds: The evidence to add, each with its explanation, "" for what the engine linked by itself.
        checks: Full id of each cited episode -> `counted`, or the check that dropped it.
    """

    belief: Belief | None
    name: str
    text: str = field(repr=False)
    section: str
    position: int
    level: int
    marks: tuple[Mark, ...]
    verified: bool
    grounds: tuple[tuple[Ground, str], ...] = field(repr=False)
    checks: Mapping[str, str]


def stand(tx: Transaction, new: Standing, wrap: int) -> str:
    """Write a belief as it stands in the document now, with the evidence that a wrap verified; give its id."""
    old = new.belief
    row = tx.get("belief", old.ref) if old else None
    verified = row["verified"] if row else None
    columns: dict[str, Value] = {
        "text": new.text,
        "section": new.section,
        "position": new.position,
        "level": new.level,
        "highest": max(new.level, old.highest if old else 1),
        "residence": Residence.WORKING.value,
        "marks": json.dumps([mark.value for mark in new.marks]),
        "verified": tx.now if new.verified else verified,
        "wraps_verified": (row["wraps_verified"] if row else 0) + new.verified,
    }
    if old is not None:
        ref = old.ref
        _update(tx, ref, row, columns)
    else:
        ref = tx.new_id("be")
        kind = BeliefKind.PATTERN.value
        named: dict[str, Value] = {"name": new.name, "name_key": skeleton(new.name), "kind": kind, "cues": "[]"}
        tx.insert("belief", ref, {**columns, **named, "created": tx.now})
    for ground, explanation in new.grounds:
        detail: dict[str, JsonValue] = {
            "class": ground.kind.value,
            "trust": ground.trust.value,
            "checks": {**new.checks},
        }
        link: dict[str, Value] = {"belief": ref, "episode": ground.ref, "wrap": wrap, "explanation": explanation}
        tx.insert(
            "evidence", tx.new_id("ev"), {**link, "earned": new.level, "detail": json.dumps(detail, sort_keys=True)}
        )
    return ref


def revise(tx: Transaction, belief: Belief, **columns: Value) -> None:
    """Change the columns of a belief that differ from what it holds; write nothing when none does."""
    _update(tx, belief.ref, tx.get("belief", belief.ref), columns)


def _update(tx: Transaction, ref: str, row: Mapping[str, Value] | None, columns: Mapping[str, Value]) -> None:
    different = {name: value for name, value in columns.items() if row is not None and row[name] != value}
    if different:
        tx.update("belief", ref, different)


def change(tx: Transaction, belief: Belief, residence: Residence, *marks: Mark, level: int | None = None) -> None:
    """Move a belief, add marks to those it has, and set its level when one is given."""
    every = json.dumps([mark.value for mark in dict.fromkeys((*belief.marks, *marks))])
    lower: dict[str, Value] = {} if level is None else {"level": level}
    revise(tx, belief, residence=residence.value, marks=every, **lower)


def move_evidence(tx: Transaction, source: str, target: str) -> None:
    """Give the evidence of one belief to another, when the two are merged."""
    for row in tx.find("evidence", {"belief": source}):
        tx.update("evidence", row["id"], {"belief": target})
