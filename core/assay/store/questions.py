"""Questions about the store itself, and arguments turned into what the rooms take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

from assay.episodes import lineage, loading
from assay.episodes.draft import as_label, as_member
from assay.errors import InvalidInput
from assay.model.episode import JsonValue
from assay.model.explanation import Explanation
from assay.model.labels import Kind, Trust
from assay.model.status import Status
from assay.model.times import parse_time, to_us
from assay.recall.query import Mode, Query
from assay.recall.views import View
from assay.storage import audit_rows, document_rows, episode_rows, pending_rows, session_rows
from assay.storage.condition import schema_of
from assay.storage.reader import Reader

__all__ = ["as_query", "explain", "full_refs", "status"]

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


def explain(reader: Reader, ref: str) -> Explanation:
    """Gather where an episode or a belief comes from.

    Raises:
        NotFound: The ref names nothing.
    """
    if ref.startswith("be_") or not ref.startswith("ep_"):
        return _explain_belief(reader, ref)
    full = loading.resolve(reader, ref)
    episode = loading.load(reader, [full])[0]
    return Explanation(
        full,
        episode=episode,
        sources=tuple(loading.load(reader, episode.derived_from)),
        derived=tuple(lineage.descendants(reader, [full])),
        replaces=tuple(target for _, target in episode_rows.edges_from(reader, "supersedes", [full])),
        replaced_by=episode.replaced_by,
        results=_results(reader, full),
        entries=tuple(seq for seq, _ in audit_rows.mentioning(reader, full, -1)),
    )


def _explain_belief(reader: Reader, ref: str) -> Explanation:
    from assay.beliefs.loading import evidence_of, find_belief

    belief = find_belief(reader, ref)
    evidence = evidence_of(reader, belief.ref)
    return Explanation(
        belief.ref,
        belief=belief,
        evidence=tuple(evidence),
        sources=tuple(loading.load(reader, list(dict.fromkeys(item.episode for item in evidence)))),
        results=_results(reader, belief.ref),
        entries=tuple(seq for seq, _ in audit_rows.mentioning(reader, belief.ref, -1)),
    )


def _results(reader: Reader, ref: str) -> tuple[tuple[bool, str], ...]:
    return tuple((bool(row["worked"]), row["note"]) for row in reader.find("result", {"subject": ref}, order="made"))


def status(reader: Reader, path: str, counter: Callable[[str], int]) -> Status:
    """Count what the store holds."""
    from assay.authority.baton import holder
    from assay.wrap.lifecycle import open_wrap, pending

    levels: dict[int, int] = {}
    for row in reader.find("belief"):
        levels[row["level"]] = levels.get(row["level"], 0) + 1
    wrap = open_wrap(reader)
    return Status(
        path=path,
        store_id=reader.meta("store_id").decode(),
        project=reader.setting("project_name"),
        schema_version=schema_of(reader),
        episodes=reader.count("episode"),
        pending=pending(reader),
        beliefs=sum(levels.values()),
        by_level=dict(sorted(levels.items())),
        wraps=reader.count("wrap", {"state": "committed"}),
        continuity_version=document_rows.newest_version(reader),
        continuity_tokens=counter(document_rows.newest_body(reader)),
        open_wrap=None if wrap is None else wrap["session"],
        baton=holder(reader),
        requires_baton=reader.settings.requires_baton,
        policy=reader.settings.policy,
        audit_entries=reader.head().size,
        size_bytes=_size(path),
        erase_pending=pending_rows.pending(reader),
        faults=pending_rows.faults(reader),
        loop_dropped=session_rows.counted(reader, "loop_dropped"),
    )


def _size(path: str) -> int:
    """Give the bytes of the file and its write-ahead log."""
    return sum(
        file.stat().st_size for file in (Path(path), Path(f"{path}-wal")) if path != ":memory:" and file.exists()
    )
