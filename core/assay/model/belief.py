"""A belief: a standalone statement held on evidence, and the evidence itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from assay.model.labels import BeliefKind, Mark, Residence

__all__ = ["Belief", "Evidence"]


@dataclass(frozen=True, slots=True)
class Belief:
    """A statement that the store holds, and what verified evidence has earned it.

    Attributes:
        ref: Full id, `be_` and 26 base32 characters.
        level: 1 for what was merely stated; each wrap with verified evidence may add one.
        highest: The highest level it ever held.
        section: Heading of the section it is rendered in, "" when it is in none.
        position: Order within its section.
        verified_at: When evidence for it was last verified, or None.
    """

    ref: str
    name: str
    text: str = field(repr=False)
    kind: BeliefKind = BeliefKind.PATTERN
    level: int = 1
    highest: int = 1
    residence: Residence = Residence.WORKING
    section: str = ""
    position: int = 0
    marks: tuple[Mark, ...] = ()
    cues: tuple[str, ...] = ()
    created_at: datetime | None = None
    verified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A checked link from a belief to an episode.

    Attributes:
        wrap: Number of the wrap that verified it.
        explanation: What the composer said the episode shows; "" for founding evidence linked by the engine.
        earned: The level that the belief held after this wrap.
    """

    belief: str
    episode: str
    wrap: int
    explanation: str = field(repr=False)
    earned: int
