"""The records of CrewAI's memory as episodes, so that they have a history, a trust and an audit trail."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from assay import Episode, Hit, InvalidInput, NotFound, Origin, Store, Verdict
from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo

__all__ = ["Match", "Records"]

_FACTS = "crewai"
_PAGE = 200


class Match(MemoryMatch):
    """A record that answers a query, shown to a model as one quoted line with its ref and its trust."""

    def format(self) -> str:
        """Render it as the lines of a briefing are rendered, so that its text cannot pass for another line."""
        ref, trust = self.record.metadata["ref"], self.record.metadata["trust"]
        return f"- {ref} ({trust}) {json.dumps(self.record.content, ensure_ascii=False)}"


class Records:
    """What CrewAI's `Memory` keeps its records in, but for its search: that gets vectors without the words."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def keep(self, record: MemoryRecord) -> MemoryRecord:
        """Keep a record as an episode, whose ref is its new id; one that is kept already is replaced."""
        before = self._episode(record.id)
        facts = record.model_dump(mode="json", include={"scope", "categories", "importance", "source", "private"})
        facts["metadata"] = json.loads(json.dumps(record.metadata, default=str))
        episode = self.store.record(
            record.content,
            origin=Origin.AGENT,
            source="crewai:memory",
            state_key=before.state_key if before is not None else f"crewai:{record.id}",
            tags=[_tag(above) for above in _ancestors(record.scope)],
            metadata={_FACTS: facts},
            verdict=Verdict.NEW,  # a version of its own, though the value is the same: an echo is never replaced
        )
        return as_record(episode)

    def search(self, query: str, scope: str | None) -> Iterator[Match]:
        """Give what answers a query, best first; without a scope also what hooks have recorded in the same store."""
        shown: set[str] = set()
        for hit, episode in self._current(query, scope):
            if hit.text not in shown:
                shown.add(hit.text)
                record = as_record(episode)
                record.metadata |= {"ref": hit.ref, "trust": hit.trust.value}
                yield Match(record=record, score=hit.score, match_reasons=[*hit.why])

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Give a record by its id."""
        episode = self._episode(record_id)
        return None if episode is None else as_record(episode)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """List records, the newest first."""
        return self._all(scope_prefix)[offset : offset + limit]

    def count(self, scope_prefix: str | None = None) -> int:
        """Count records."""
        return len(self._all(scope_prefix))

    def list_scopes(self, parent: str = "/") -> list[str]:
        """List the scopes right below another one."""
        depth = len(_parts(parent)) + 1
        below = {tuple(_parts(record.scope)[:depth]) for record in self._all(parent)}
        return sorted("/" + "/".join(parts) for parts in below if len(parts) == depth)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Count the records of each category."""
        named = [name for record in self._all(scope_prefix) for name in record.categories]
        return {name: named.count(name) for name in sorted(set(named))}

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Describe a scope."""
        records = self._all(scope)
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=[*self.list_categories(scope)],
            oldest_record=min((record.created_at for record in records), default=None),
            newest_record=max((record.created_at for record in records), default=None),
            child_scopes=self.list_scopes(scope),
        )

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erase the records that meet every condition, with the texts they replaced, and give their number."""
        found = [
            (record, episode)
            for record, episode in self._records(scope_prefix)
            if (not categories or {*categories} & {*record.categories})
            and (not record_ids or record.id in record_ids)
            and (older_than is None or record.created_at < _naive(older_than))
            and all(record.metadata.get(name) == value for name, value in (metadata_filter or {}).items())
        ]
        for _, episode in found:
            for version in self.store.keys.history(episode.state_key or ""):
                self.store.erase(version)
        return len(found)

    def reset(self, scope_prefix: str | None = None) -> None:
        """Erase every record below a scope; what hooks have recorded stays."""
        self.delete(scope_prefix)

    def _episode(self, ref: str) -> Episode | None:
        try:
            return self.store.episodes.get(ref)
        except (InvalidInput, NotFound):
            return None

    def _all(self, scope: str | None) -> list[MemoryRecord]:
        return [record for record, _ in self._records(scope)]

    def _records(self, scope: str | None) -> list[tuple[MemoryRecord, Episode]]:
        return [(as_record(episode), episode) for _, episode in self._current("", scope or "/")]

    def _current(self, query: str, scope: str | None) -> Iterator[tuple[Hit, Episode]]:
        """Give what stands at present; equal texts are records of their own, replaced ones are not."""
        tags = [] if scope is None else [_tag(_parts(scope))]
        after: str | None = None
        while True:
            page = self.store.recall(query, tags=tags, history=True, limit=_PAGE, after=after)
            for hit in page:
                if hit.episode is not None and hit.episode.replaced_by is None:
                    yield hit, hit.episode
            after = page.next
            if after is None:
                return


def as_record(episode: Episode) -> MemoryRecord:
    """Give an episode as a record; one that hooks have recorded has no scope of its own."""
    facts = cast("Mapping[str, Any]", episode.metadata.get(_FACTS, {}))
    when = _naive(episode.recorded_at)
    return MemoryRecord(id=episode.ref, content=episode.content, created_at=when, last_accessed=when, **facts)


def _parts(scope: str) -> list[str]:
    return [part for part in scope.split("/") if part]


def _ancestors(scope: str) -> list[list[str]]:
    parts = _parts(scope)
    return [parts[:length] for length in range(len(parts) + 1)]


def _tag(parts: Sequence[str]) -> str:
    return f"crewai:{hashlib.sha256(json.dumps([*parts]).encode()).hexdigest()[:32]}"


def _naive(when: datetime) -> datetime:
    """Give a time as CrewAI has it: UTC, without saying so."""
    return when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)
