"""Why something is held, and what removing something left."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.model.belief import Belief, Evidence
from assay.model.episode import Episode

__all__ = ["Erasure", "Explanation"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where an episode or a belief comes from, and what the log says of it.

    Attributes:
        evidence: For a belief: every verified link, oldest first.
        sources: For an episode: what it was derived from; for a belief: the episodes of its evidence.
        derived: Full ids of what was derived from it.
        replaces: Full ids of what it took the place of; `replaced_by` of what took its own.
        results: How acting on it went: (worked, note), oldest first.
        entries: Numbers of the audit entries that wrote it.
    """

    ref: str
    episode: Episode | None = None
    belief: Belief | None = None
    evidence: tuple[Evidence, ...] = ()
    sources: tuple[Episode, ...] = field(default=(), repr=False)
    derived: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    replaced_by: str | None = None
    results: tuple[tuple[bool, str], ...] = field(default=(), repr=False)
    entries: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Erasure:
    """What an erase removed.

    Attributes:
        erased: Full ids that are gone.
        rewritten: What held or derived from them and was cleaned: `belief be_...`, `document version 3`.
        derived: Full ids of episodes that were derived from them and stay, trusted as external from now on.
        pending: True while a reader keeps their bytes in the write-ahead log; retried at each open and erase.
        out_of_reach: What no erase can reach, in words.
    """

    erased: tuple[str, ...]
    rewritten: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    pending: bool = False
    out_of_reach: tuple[str, ...] = (
        "backups and exports made before",
        "logs of model providers",
        "file system snapshots and wear levelling of the disk",
    )

    def __bool__(self) -> bool:
        """Tell whether no byte is left in the store's files."""
        return not self.pending
