"""Assay as the store of a graph: items are episodes, so that they have a history, a trust and an audit trail."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from assay import Hit, Origin, Store, Verdict
from assay_integrations.langgraph import items
from assay_integrations.langgraph.place import thread_id
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp

__all__ = ["AssayStore"]

T = TypeVar("T")

_PAGE = 200


class AssayStore(BaseStore):
    """Keeps the items of `create_agent(..., store=)` or `graph.compile(store=)` in a memory.

    A `put` under a key that exists replaces its value and keeps the earlier ones as history; a `delete` erases them
    all. A query is answered by Assay's own ranking, without embeddings, and gives nothing when nothing is relevant.

    Args:
        target: A `Store`, or the path of one. The users of a graph are told apart by its namespaces.

    Example:
        agent = create_agent(model, tools, store=AssayStore("memory.db"))
    """

    supports_ttl = False

    def __init__(self, target: Store | str | os.PathLike[str]) -> None:
        self._owned = not isinstance(target, Store)
        self._store = target if isinstance(target, Store) else Store(target)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; all of them see the store as it was before the batch wrote to it."""
        asked = list(ops)
        results = [None if isinstance(op, PutOp) else self._answer(op) for op in asked]
        for op in asked:
            if isinstance(op, PutOp):
                self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same from an event loop, which does not wait for the disk."""
        return await asyncio.to_thread(self.batch, list(ops))

    def close(self) -> None:
        """Close the store if it was opened here."""
        if self._owned:
            self._store.close()

    def _answer(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return [self._found(hit, scored=bool(op.query)) for hit in _cut(self._search(op), op)]
            case ListNamespacesOp():
                return self._namespaces(op)

    def _put(self, op: PutOp) -> None:
        key = items.key_of(op.namespace, op.key)
        if op.value is None:
            for episode in self._store.keys.history(key):
                self._store.erase(episode)
            return
        self._store.record(
            items.text_of(op),
            origin=Origin.AGENT,
            source="langgraph:store",
            session=thread_id(),
            state_key=key,
            tags=items.tags_of(op),
            metadata=items.metadata_of(op),
            verdict=Verdict.NEW,  # a version of its own, though the value is the same: an echo is never replaced
        )

    def _get(self, op: GetOp) -> Item | None:
        versions = self._store.keys.history(items.key_of(op.namespace, op.key))
        current = next((version for version in versions if version.replaced_by is None), None)
        if current is None:
            return None
        return Item(
            value=items.value_of(current),
            key=op.key,
            namespace=op.namespace,
            created_at=versions[-1].recorded_at,
            updated_at=current.recorded_at,
        )

    def _search(self, op: SearchOp) -> Iterator[Hit]:
        for hit in self._current(op.namespace_prefix, op.query or ""):
            if hit.episode is not None and items.passes(items.value_of(hit.episode), op.filter or {}):
                yield hit

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {items.namespace_of(hit.episode) for hit in self._current((), "") if hit.episode is not None}
        wanted = {
            namespace[: op.max_depth]
            for namespace in found
            if all(items.matches(namespace, condition) for condition in op.match_conditions or ())
        }
        return _cut(sorted(wanted), op)

    def _current(self, prefix: tuple[str, ...], query: str) -> Iterator[Hit]:
        """Give the items below a namespace; equal values are items of their own, replaced ones are not."""
        tags = [items.tag_of(prefix), *([items.INDEXED] if query else [])]
        after: str | None = None
        while True:
            page = self._store.recall(query, tags=tags, history=True, limit=_PAGE, after=after)
            yield from (hit for hit in page if hit.episode is not None and hit.episode.replaced_by is None)
            after = page.next
            if after is None:
                return

    def _found(self, hit: Hit, *, scored: bool) -> SearchItem:
        episode = hit.episode
        assert episode is not None
        versions = self._store.keys.history(episode.state_key or "")
        return SearchItem(
            namespace=items.namespace_of(episode),
            key=str(episode.metadata["key"]),
            value=items.value_of(episode),
            created_at=versions[-1].recorded_at,
            updated_at=episode.recorded_at,
            score=hit.score if scored else None,
        )


def _cut(found: Iterable[T], op: SearchOp | ListNamespacesOp) -> list[T]:
    return list(islice(found, op.offset, op.offset + op.limit))
