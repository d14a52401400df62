"""What a belief has behind it: its row, and the evidence that was verified for it so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from assay.beliefs.grounds import Ground, ground_of
from assay.beliefs.loading import as_belief, evidence_of
from assay.episodes.lineage import effective_trust
from assay.episodes.loading import load
from assay.model.belief import Belief, Evidence
from assay.model.labels import Residence, Trust
from assay.storage.reader import Reader

__all__ = ["History", "Past", "grounds_of", "histories", "history_of"]


@dataclass(frozen=True, slots=True)
class Past:
    """One verified link to an episode, as it was earned.

    Attributes:
        earned: The level held after the wrap that verified it.
        explanation: "" for founding evidence that the engine linked.
    """

    ground: Ground
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

    def renamed(self, name: str) -> History:
        """Give the same belief under another name."""
        return replace(self, belief=replace(self.belief, name=name))

    def merged(self, others: Iterable[History], name: str) -> History:
        """Give one belief with the evidence of several, at the lowest of their levels."""
        members = [self, *(one for one in others if one is not self)]
        past = tuple(dict.fromkeys(link for one in members for link in one.past))
        level = min(one.belief.level for one in members)
        belief = replace(self.belief, name=name, level=level)
        return History(belief, max(one.wraps_verified for one in members), past)

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
    rows = {row["id"]: row for row in reader.find("belief", {"residence": Residence.WORKING.value})}
    rows |= {row["id"]: row for row in reader.find("belief", {"name_key": list(dict.fromkeys(keys))})}
    evidence = evidence_of(reader, *rows)
    grounds = grounds_of(reader, [link.episode for link in evidence])
    working = Residence.WORKING.value
    found = sorted(rows.values(), key=lambda row: (row["residence"] == working, row["created"], row["id"]))
    links: dict[str, list[Evidence]] = {}
    for link in evidence:
        links.setdefault(link.belief, []).append(link)
    return {row["name_key"]: history_of(as_belief(row), links.get(row["id"], ()), grounds) for row in found}


def history_of(belief: Belief, evidence: Iterable[Evidence], grounds: Mapping[str, Ground]) -> History:
    """Give a belief with its links among some evidence; an episode that is no ground was erased."""
    links = [link for link in evidence if link.belief == belief.ref]
    past = (
        Past(grounds.get(one.episode, Ground(one.episode, "", erased=True)), one.explanation, one.earned)
        for one in links
    )
    return History(belief, len({link.wrap for link in links if link.explanation}), tuple(past))


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
