"""Arguments of questions, turned into what the rooms take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from assay.episodes import loading
from assay.episodes.draft import as_label, as_member
from assay.errors import InvalidInput
from assay.model.episode import JsonValue
from assay.model.labels import Kind, Trust
from assay.model.times import parse_time, to_us
from assay.recall.query import Mode, Query
from assay.recall.views import View
from assay.storage.reader import Reader

__all__ = ["as_query", "full_refs"]

When = datetime | date | str


def as_query(
    reader: Reader,
    text: str,
    *,
    kinds: Sequence[Kind | str],
    since: When | None,
    until: When | None,
    tags: Sequence[str],
    trust: Trust | str | None,
    session: str | None,
    source: str | None,
    state_key: str | None,
    refs: Sequence[str] | None,
    exclude: Sequence[str],
    exclude_recent: timedelta | None,
    history: bool,
    valid_at: When | None,
    known_at: When | None,
    limit: int,
    after: str | None,
    now: datetime,
    mode: Mode | str,
    metadata: Mapping[str, JsonValue] | None,
    phrase: str,
) -> Query:
    """Check the arguments of a recall.

    Raises:
        InvalidInput: One cannot be accepted.
        NotFound: A ref names nothing.
    """
    if state_key is not None:
        from assay.text import fold

        state_key = fold(as_label("state_key", state_key)).strip()
    if isinstance(kinds, str):
        kinds = (kinds,)
    if after is not None and not (str(after).isascii() and str(after).isdecimal()):
        raise InvalidInput("after", "the cursor that `Recall.next` gave")
    return Query(
        text=text,
        kinds=frozenset(as_member("kinds", kind, Kind) for kind in kinds),
        since=None if since is None else to_us(parse_time("since", since, now=now)),
        until=None if until is None else to_us(parse_time("until", until, now=now, end=True)),
        tags=frozenset(tags),
        trust=None if trust is None else as_member("trust", trust, Trust),
        session=session,
        source=source,
        state_key=state_key,
        refs=None if refs is None else full_refs(reader, refs),
        exclude=frozenset(full_refs(reader, exclude)),
        exclude_recent=exclude_recent,
        history=history,
        limit=limit,
        after=int(after or 0),
        mode=as_member("mode", mode, Mode),
        metadata=metadata or {},
        phrase=phrase,
        view=None if valid_at is None and known_at is None else View(**_moments(now, valid=valid_at, known=known_at)),
    )


def _moments(now: datetime, **given: When | None) -> dict[str, int]:
    """Read the moments of a view, in microseconds since 1970; a date is the end of that day."""
    return {
        name: to_us(parse_time(f"{name}_at", value, now=now, end=True))
        for name, value in given.items()
        if value is not None
    }


def full_refs(reader: Reader, refs: Sequence[str]) -> list[str]:
    """Find the full ids of episodes.

    Raises:
        NotFound: A ref names nothing.
    """
    return [loading.resolve(reader, ref) for ref in refs]
