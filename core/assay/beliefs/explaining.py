"""Answer why a belief stands where it does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from assay.beliefs.history import as_belief
from assay.errors import NotFound
from assay.model.belief import Belief, Evidence
from assay.model.episode import JsonValue
from assay.storage.reader import Reader
from assay.text import skeleton

__all__ = ["Reasons", "explain", "find"]


@dataclass(frozen=True, slots=True)
class Reasons:
    """A belief, the evidence that was verified for it, oldest first, and what the checks said of each."""

    belief: Belief
    evidence: tuple[Evidence, ...]
    checks: tuple[Mapping[str, JsonValue], ...]


def find(reader: Reader, ref: str) -> Belief:
    """Find a belief by its name, its id, or a unique prefix of it.

    Raises:
        NotFound: No belief, or more than one, answers to it.
    """
    wanted = ref.strip()
    rows = reader.find("belief", {"name_key": skeleton(wanted)}) or reader.find("belief", {"id": wanted.lower()})
    if not rows and wanted.lower().startswith("be_") and len(wanted) >= 11:
        rows = [row for row in reader.find("belief") if row["id"].startswith(wanted.lower())]
    if not rows:
        raise NotFound(ref, "no belief of this store has this name or ref")
    if len(rows) > 1:
        raise NotFound(ref, "several beliefs answer to this: give the full ref")
    return as_belief(rows[0])


def explain(reader: Reader, ref: str) -> Reasons:
    """Give a belief with its evidence and the recorded result of each check."""
    belief = find(reader, ref)
    rows = sorted(reader.find("evidence", {"belief": belief.ref}), key=lambda row: (row["wrap"], row["id"]))
    links = tuple(Evidence(row["belief"], row["episode"], row["wrap"], row["explanation"], row["earned"]) for row in rows)
    return Reasons(belief, links, tuple(json.loads(row["detail"]) for row in rows))
