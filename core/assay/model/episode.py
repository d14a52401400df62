"""An episode: the immutable record of something that happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from assay.model.labels import Kind, Origin, Trust, Verdict

__all__ = ["Episode", "JsonValue"]

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True, slots=True)
class Episode:
    """Something that happened, as it was recorded.

    Attributes:
        ref: Full id, `ep_` and 26 base32 characters, ordered by time.
        n: Place in the order of recording within its store, from 1.
        happened_at: When it happened, UTC. A claim of whoever recorded it.
        recorded_at: When it was recorded, UTC; never decreases with `n`.
        trust: Its own label; `effective_trust` also weighs what it was derived from.
        success: True or False for an outcome that is known, else None.
        verdict: How it related to what the store held; `verdict_target` is the ref it relates to.
        replaced_by: The ref that took its place, if any.
    """

    ref: str
    n: int
    kind: Kind
    content: str = field(repr=False)
    happened_at: datetime
    recorded_at: datetime
    origin: Origin
    source: str
    trust: Trust
    effective_trust: Trust
    session: str | None = None
    run: str | None = None
    success: bool | None = None
    state_key: str | None = field(default=None, repr=False)
    derived_from: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue], repr=False)
    idempotency_key: str | None = None
    verdict: Verdict = Verdict.NEW
    verdict_target: str | None = None
    replaced_by: str | None = None

    def __str__(self) -> str:
        """Give the content, so that an f-string shows what was recorded."""
        return self.content
