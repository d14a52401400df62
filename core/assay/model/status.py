"""What a store says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Status", "Verification"]


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of replaying the audit log against the live rows.

    Attributes:
        valid: True when nothing was found wrong.
        entries: Number of entries in the log.
        root: Merkle root of the log, hex (RFC 6962).
        problems: What is wrong, each with a place; at most `limit` of them are named.
    """

    valid: bool
    entries: int
    root: str
    problems: tuple[str, ...] = ()

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
