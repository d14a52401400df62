"""What a belief has behind it: its row, and the evidence that was verified for it so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from assay.beliefs.grounds import Ground, ground_of
from assay.beliefs.loading import as_belief
from assay.episodes.lineage import effective_trust
from assay.episodes.loading import load
from assay.model.belief import Belief
from assay.model.labels import Residence, Trust
from assay.storage.reader import Reader

__all__ = ["History", "Past", "grounds_of", "histories"]

_LIVING = (Residence.WORKING.value, Residence.PINNED.value)


@dataclass(frozen=True, slots=True)
class Past:
    """One verified link to an episode, as it was earned.

    Attributes:
        earned: The level held after the wrap that verified it.
        explanation: "" for founding evidence that the engine linked.
    """

    ref: str
    ground: Ground
    wrap: int
    explanation: str = field(repr=False)
    earned: int


@dataclass(frozen=True, slots=True)
class History:
    """A belief with all its evidence, oldest first."""

    belief: Belief
    wraps_verified: int
    past: tuple[Past, ...] = ()

    @property
    def verified(self) -> date | None:
        """Give the day on which evidence was last verified."""
        return None if self.belief.verified_at is None else self.belief.verified_at.date()

    @property
    def counted(self) -> tuple[Ground, ...]:
        """Give the distinct evidence episodes that still count."""
        grounds = {past.ground.ref: past.ground for past in self.past if not past.ground.blocked}
        return tuple(grounds.values())

    @property
    def explanations(self) -> tuple[str, ...]:
        """Give the explanations that were verified before."""
        return tuple(past.explanation for past in self.past if past.explanation)


def histories(reader: Reader, keys: Iterable[str] = ()) -> dict[str, History]:
    """Give what stands in the document, and whatever else has one of some keys, by key."""
    rows = {row["id"]: row for row in reader.find("belief", {"residence": _LIVING})}
    rows |= {row["id"]: row for row in reader.find("belief", {"name_key": list(dict.fromkeys(keys))})}
    evidence = reader.find("evidence", {"belief": list(rows)}) if rows else []
    grounds = grounds_of(reader, [row["episode"] for row in evidence])
    past: dict[str, list[Past]] = {}
    for row in sorted(evidence, key=lambda one: (one["wrap"], one["id"])):
        link = Past(row["id"], grounds[row["episode"]], row["wrap"], row["explanation"], row["earned"])
        past.setdefault(row["belief"], []).append(link)
    found = sorted(rows.values(), key=lambda row: (row["residence"] in _LIVING, row["created"], row["id"]))
    return {
        row["name_key"]: History(as_belief(row), row["wraps_verified"], tuple(past.get(row["id"], ()))) for row in found
    }


def grounds_of(reader: Reader, ids: Iterable[str]) -> dict[str, Ground]:
    """Give every evidence episode as a ground; an erased one has no text and counts for nothing."""
    wanted = list(dict.fromkeys(ids))
    found = {episode.ref: ground_of(episode) for episode in load(reader, wanted)}
    gone = [ref for ref in wanted if ref not in found]
    trust = effective_trust(reader, gone) if gone else {}
    for ref in gone:
        kept = trust.get(ref, Trust.EXTERNAL)
        found[ref] = Ground(ref, "", trust=kept, erased=kept is Trust.EXTERNAL)
    return found
