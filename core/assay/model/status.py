"""What a store says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Breach", "Checkpoint", "Status", "Verification"]


class Breach(StrEnum):
    """What kind of thing is wrong with a log.

    Attributes:
        TAMPERED: The file contradicts itself.
        ROLLBACK: Entries that an anchor covers are gone.
        FORK: Entries that an anchor covers are others.
        STALE: The newest anchor is older than it may be.
        FOREIGN: The anchors, or the key, belong to another store.
    """

    TAMPERED = "tampered"
    ROLLBACK = "rollback"
    FORK = "fork"
    STALE = "stale"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a log at a moment, as `c2sp.org/tlog-checkpoint` writes it.

    Attributes:
        origin: Names the store.
        size: Number of entries.
        root: Merkle root of these, hex (RFC 6962).
        note: The text that is published; with signatures, if a key is in force.
    """

    origin: str
    size: int
    root: str
    note: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of replaying the audit log against the live rows.

    Attributes:
        valid: True when nothing was found wrong.
        entries: Number of entries in the log.
        root: Merkle root of the log, hex (RFC 6962).
        problems: What is wrong, each with a place; at most `limit` of them are named.
        breaches: The kinds of what is wrong.
        notes: What an auditor should know, and is not wrong.
    """

    valid: bool
    entries: int
    root: str
    problems: tuple[str, ...] = ()
    breaches: frozenset[Breach] = frozenset()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Tell whether the log and the rows agree."""
        return self.valid

    def __str__(self) -> str:
        """Say it in a line."""
        if self.valid:
            return f"valid: {self.entries} entries, root {self.root[:16]}"
        return f"NOT VALID: {len(self.problems)} problems; first: {self.problems[0]}"


@dataclass(frozen=True, slots=True)
class Status:
    """Counts and the state of a store, without any content.

    Attributes:
        pending: Episodes that no committed wrap has seen yet.
        faults: What adapters could not do: code -> how often.
        erase_pending: Erasures whose bytes may still be in the write-ahead log.
    """

    path: str
    store_id: str
    project: str
    schema_version: int
    episodes: int
    pending: int
    beliefs: int
    by_level: Mapping[int, int]
    wraps: int
    continuity_version: int
    continuity_tokens: int
    open_wrap: str | None
    baton: str | None
    requires_baton: bool
    policy: str
    audit_entries: int
    size_bytes: int
    erase_pending: int = 0
    faults: Mapping[str, int] = field(default_factory=dict[str, int])
    loop_dropped: int = 0
