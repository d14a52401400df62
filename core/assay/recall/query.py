"""A question to the memory, with its filters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from assay.errors import InvalidInput
from assay.model.episode import JsonValue
from assay.model.labels import Kind, Trust
from assay.recall.views import View

__all__ = ["Mode", "Query"]


_KINDS = {"text": str, "phrase": str, "session": str, "source": str, "limit": int}


class Mode(StrEnum):
    """How much is asked for: whatever may bear on the question, or only what clearly does."""

    BROAD = "broad"
    PRECISE = "precise"


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for; every filter narrows.

    Attributes:
        text: Words, or a question, or "" for the newest.
        since: Happened at this time or later, microseconds since 1970; `until` likewise, inclusive.
        trust: Effective trust of at least this.
        refs: Full ids to choose among.
        exclude: Full ids that are still in the caller's context.
        exclude_recent: Leave out what was recorded so recently.
        history: Also what was replaced, and every echo.
        after: How many hits to skip: the cursor of an earlier page.
        metadata: Keys and values that an episode's own metadata must have.
        phrase: What an episode must hold word for word; case and spacing do not matter.
        view: The moment as of which to answer; None for now.
    """

    text: str = ""
    kinds: frozenset[Kind] = frozenset()
    since: int | None = None
    until: int | None = None
    tags: frozenset[str] = frozenset()
    trust: Trust | None = None
    session: str | None = None
    source: str | None = None
    state_key: str | None = None
    refs: Sequence[str] | None = None
    exclude: frozenset[str] = field(default_factory=frozenset[str])
    exclude_recent: timedelta | None = None
    history: bool = False
    limit: int = 10
    after: int = 0
    mode: Mode = Mode.BROAD
    phrase: str = ""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    view: View | None = None

    def __post_init__(self) -> None:
        """Check what the type checker of a caller may not have, and the limits."""
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise InvalidInput(name, f"{kind.__name__} is needed, not {type(value).__name__}")
        if not 1 <= self.limit <= 1000:
            raise InvalidInput("limit", "1 to 1000")
        if self.after < 0:
            raise InvalidInput("after", "the cursor that `Recall.next` gave")

    @property
    def narrowed(self) -> bool:
        """Tell whether any filter is set that may leave little of what ranks well; `exclude` leaves all but its own."""
        return bool(
            self.kinds
            or self.tags
            or self.since is not None
            or self.until is not None
            or self.trust
            or self.session is not None
            or self.source is not None
            or self.state_key is not None
            or self.refs is not None
            or self.exclude_recent is not None
            or self.metadata
            or self.phrase
            or self.view is not None
        )

    def admits(self, row: Mapping[str, Any], now_us: int) -> bool:
        """Tell whether an episode's row passes the filters; trust, which needs its sources, is checked apart."""
        recent = None if self.exclude_recent is None else now_us - self.exclude_recent // timedelta(microseconds=1)
        return (
            not row["quarantined"]
            and (self.view is None or self.view.holds(row))
            and (not self.kinds or Kind(row["kind"]) in self.kinds)
            and (self.since is None or row["happened"] >= self.since)
            and (self.until is None or row["happened"] <= self.until)
            and (self.session is None or row["session"] == self.session)
            and (self.source is None or row["source"] == self.source)
            and (self.state_key is None or row["state_key"] == self.state_key)
            and (self.refs is None or row["id"] in self.refs)
            and row["id"] not in self.exclude
            and (recent is None or row["recorded"] <= recent)
            and (not self.tags or self.tags <= set(_tags(row["tags"])))
            and (not self.metadata or self.metadata.items() <= _metadata(row["metadata"]).items())
            and (not self.phrase or _holds(row["content"], self.phrase))
        )


def _holds(content: str, phrase: str) -> bool:
    from assay.text import fold

    return fold(phrase) in fold(content)


def _metadata(stored: str) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = json.loads(stored)
    return values


def _tags(stored: str) -> list[str]:
    tags: list[str] = json.loads(stored)
    return tags
