"""Pinned facts: beliefs without a level of their own, rendered word for word until somebody drops them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from assay.model.belief import Belief
from assay.model.labels import BeliefKind, Residence
from assay.storage.reader import Reader
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.text import skeleton

__all__ = ["Fact", "fact_rows", "is_fact", "pin", "settle_facts"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A bullet of a durable section.

    Attributes:
        sources: Full ids of the episodes that state it; none for one that the operator pinned.
    """

    text: str
    cues: tuple[str, ...] = ()
    section: str = ""
    position: int = 0
    sources: tuple[str, ...] = ()


def is_fact(belief: Belief) -> bool:
    """Tell whether a belief is a pinned fact, or was one: it is known by its text, not by a name."""
    return belief.kind is BeliefKind.FACT and not belief.name


def fact_rows(reader: Reader) -> dict[str, dict[str, Any]]:
    """Give the row of every fact, pinned or not, by the look-alike form of its text."""
    rows = reader.find("belief", {"kind": BeliefKind.FACT.value, "name": ""})
    rows.sort(key=lambda row: (row["residence"] == Residence.PINNED.value, row["created"], row["id"]))
    return {skeleton(row["text"]): row for row in rows}


def settle_facts(tx: Transaction, facts: Iterable[Fact], wrap: int = 0) -> None:
    """Pin exactly these facts; those that are pinned beside them rest, in the caller's audit entry (J1, C6).

    Args:
        wrap: Number of the wrap that states them.
    """
    rows = fact_rows(tx)
    wanted = {skeleton(fact.text): fact for fact in facts}
    for key, fact in wanted.items():
        pin(tx, fact, rows.get(key), wrap)
    for key, row in rows.items():
        if key not in wanted and row["residence"] == Residence.PINNED.value:
            tx.update("belief", row["id"], {"residence": Residence.REST.value})


def pin(tx: Transaction, fact: Fact, row: dict[str, Any] | None, wrap: int = 0) -> str:
    """Pin one fact, new or known by its row; give its id."""
    columns: dict[str, Value] = {
        "residence": Residence.PINNED.value,
        "marks": "[]",
        "cues": json.dumps([*fact.cues], ensure_ascii=False),
        "section": fact.section,
        "position": fact.position,
    }
    if row is not None:
        changed = {name: value for name, value in columns.items() if row[name] != value}
        if changed:
            tx.update("belief", row["id"], changed)
        return str(row["id"])
    ref = tx.new_id("be")
    named: dict[str, Value] = {"name": "", "name_key": f"fact {ref}", "text": fact.text, "kind": BeliefKind.FACT.value}
    plain: dict[str, Value] = {"level": 1, "highest": 1, "verified": None, "wraps_verified": 0}
    tx.insert("belief", ref, {**columns, **named, **plain, "created": tx.now})
    for source in dict.fromkeys(fact.sources):
        link: dict[str, Value] = {"belief": ref, "episode": source, "wrap": wrap, "explanation": "", "earned": 1}
        tx.insert("evidence", tx.new_id("ev"), {**link, "detail": "{}"})
    return ref
