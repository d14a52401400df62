"""From rows to beliefs and their evidence."""

from __future__ import annotations

import json
from typing import Any

from assay.errors import NotFound
from assay.model.belief import Belief, Evidence
from assay.model.constants import MIN_REF_CHARS
from assay.model.labels import BeliefKind, Mark, Residence
from assay.model.times import from_us
from assay.storage.failures import of_a_row
from assay.storage.reader import Reader

__all__ = ["all_beliefs", "as_belief", "evidence_of", "find_belief"]

_SHOWN = len("be_") + MIN_REF_CHARS


def all_beliefs(reader: Reader, *residences: Residence) -> list[Belief]:
    """Give the beliefs in some residences (all when none is named), in order of section and place."""
    where = {"residence": [residence.value for residence in residences]} if residences else {}
    beliefs = [as_belief(row) for row in reader.find("belief", where)]
    return sorted(beliefs, key=lambda one: (one.section, one.position, one.ref))


def find_belief(reader: Reader, name: str) -> Belief:
    """Find a belief by its name, a fact by its text, either by its ref or a unique prefix of it as shown.

    Raises:
        NotFound: There is none, or several begin with this ref.
    """
    beliefs = all_beliefs(reader)
    named = [one for one in beliefs if name and name == (one.name or one.text)]
    found = named or [one for one in beliefs if len(name) >= _SHOWN and one.ref.startswith(name)]
    if len(found) != 1:
        raise NotFound(name, "no belief of this store, or several, have this name or ref")
    return found[0]


@of_a_row
def as_belief(row: dict[str, Any]) -> Belief:
    """Turn a row into a belief."""
    return Belief(
        row["id"],
        row["name"],
        row["text"],
        BeliefKind(row["kind"]),
        row["level"],
        row["highest"],
        Residence(row["residence"]),
        row["section"],
        row["position"],
        tuple(Mark(mark) for mark in json.loads(row["marks"])),
        tuple(json.loads(row["cues"])),
        from_us(row["created"]),
        None if row["verified"] is None else from_us(row["verified"]),
    )


def evidence_of(reader: Reader, *refs: str) -> list[Evidence]:
    """Give every verified link of some beliefs, oldest first; not those of a wrap that was reverted."""
    rows = sorted(reader.find("evidence", {"belief": refs}), key=lambda row: (row["wrap"], row["id"])) if refs else []
    counted = (row for row in rows if row["earned"] > 0)
    return [Evidence(row["belief"], row["episode"], row["wrap"], row["explanation"], row["earned"]) for row in counted]
