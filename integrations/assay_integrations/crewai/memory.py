"""Assay as the memory of a crew: `Crew(memory=AssayMemory("memory.db"))`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal, cast

from assay import Store
from assay_integrations.crewai.place import remembered
from assay_integrations.crewai.records import Records
from crewai import Memory
from crewai.memory.types import MemoryMatch, MemoryRecord

__all__ = ["AssayMemory"]


class AssayMemory(Memory):
    """Keeps what crews, agents and flows put into `memory=`.

    A query is answered by Assay's own ranking: no embedder, no vector store, no call of a model. Deleting erases;
    updating keeps the earlier text as history. Where hooks of this package record and brief a kickoff, it keeps and
    adds nothing of its own accord, so that nothing is there twice; its tools work all the same.

    Args:
        target: A `Store`, or the path of one.
        settings: Those of `Memory` that do not concern models, such as `root_scope` and `read_only`.

    Example:
        crew = Crew(agents=[...], tasks=[...], memory=AssayMemory("memory.db"))
    """

    _records: Records
    _owned: bool

    def __init__(self, target: Store | str | os.PathLike[str], **settings: Any) -> None:
        records = Records(target if isinstance(target, Store) else Store(target))
        # The host types the field by a protocol with a search by vectors, which `recall` below never comes to.
        super().__init__(storage=cast("Any", records), **settings)
        self._records = records
        self._owned = not isinstance(target, Store)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> AssayMemory:
        """Give itself: the copies of a crew share its memory."""
        return self

    def extract_memories(self, content: str) -> list[str]:
        """Keep the task and its result in one piece, as no model is asked; nothing, where hooks record both."""
        return [] if remembered() else [content]

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: Literal["shallow", "deep"] = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """Give what answers a query, best first: nothing when nothing is relevant, or where hooks brief the agent."""
        if remembered():
            return []
        where = None if scope is None and not self.root_scope else self._within(scope, None)
        found: Iterator[MemoryMatch] = (
            match
            for match in self._records.search(query, where)
            if _seen(match.record, source, include_private) and _of(match.record, categories)
        )
        return [*islice(found, limit)]

    def remember(
        self,
        content: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> MemoryRecord | None:
        """Keep one text; None when this memory is read-only."""
        if self.read_only:
            return None
        record = MemoryRecord(
            content=content,
            scope=self._within(scope, root_scope),
            categories=categories or [],
            metadata=metadata or {},
            importance=self.default_importance if importance is None else importance,
            source=source,
            private=private,
        )
        return self._records.keep(record)

    def remember_many(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Keep several texts, in order, before it returns."""
        kept = [
            self.remember(content, scope, categories, metadata, importance, source, private, agent_role, root_scope)
            for content in contents
        ]
        return [record for record in kept if record is not None]

    def update(
        self,
        record_id: str,
        content: str | None = None,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
    ) -> MemoryRecord:
        """Replace a record by a newer one, which has an id of its own.

        Raises:
            ValueError: There is no such record.
        """
        existing = self._records.get_record(record_id)
        if existing is None:
            raise ValueError(f"Record not found: {record_id}")
        if self.read_only:
            return existing
        given = {
            "content": content,
            "scope": scope,
            "categories": categories,
            "metadata": metadata,
            "importance": importance,
        }
        changed = existing.model_copy(update={name: value for name, value in given.items() if value is not None})
        return self._records.keep(changed)

    def close(self) -> None:
        """Close the store if it was opened here."""
        super().close()
        if self._owned:
            self._records.store.close()

    def _within(self, scope: str | None, root: str | None) -> str:
        return "/" + "/".join(part.strip("/") for part in (root or self.root_scope, scope) if part and part.strip("/"))


def _seen(record: MemoryRecord, source: str | None, include_private: bool) -> bool:
    return include_private or not record.private or (source is not None and record.source == source)


def _of(record: MemoryRecord, categories: list[str] | None) -> bool:
    return not categories or bool({*categories} & {*record.categories})
