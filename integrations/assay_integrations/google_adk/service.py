"""A memory service of ADK: what its `load_memory` and `preload_memory` tools search, and sessions are added to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby

from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session as HostSession
from google.genai.types import Content, Part

from assay import Hit
from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, guard
from assay_integrations.google_adk.events import retold
from assay_integrations.google_adk.items import words
from assay_integrations.google_adk.place import Sessions

__all__ = ["AssayMemoryService"]


class AssayMemoryService(BaseMemoryService):
    """Keeps the sessions that a host adds to it, and finds what was said in them.

    Beside an `AssayPlugin` on the same memory nothing is kept twice: events have the ids that they had when they
    happened. A fault of the memory is counted and logged, and the run goes on; only `delete_memory` raises.

    Args:
        target: What `AssayPlugin` takes; give both the same `StoreRouter` to let them share their stores.
        options: What is recorded; a `WrapPolicy` with a model of its own consolidates what is added.

    Example:
        runner = Runner(app=app, session_service=sessions, memory_service=AssayMemoryService("memory/{user}.db"))
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self._sessions = Sessions(target, options)

    async def add_session_to_memory(self, session: HostSession) -> None:
        """Record what happened in a session; what was added before is not recorded again."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Record some events of a session."""
        for run, happened in groupby(events, lambda event: event.invocation_id):
            session = self._session(user_id, session_id, run or None)
            if session is not None:
                with guard(session, "add_events"):
                    await session.aio.run(partial(retold, session, list(happened)))
                    if session.options.wrap.model is not None:
                        await session.aio.wrap(session.options.wrap.model)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep statements, at the trust of the agent: who wrote an entry is not known."""
        session = self._session(user_id, agent=app_name)
        if session is not None:
            with guard(session, "add_memory"):
                for entry in memories:
                    await session.aio.remember(words(entry.content))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Find what bears on a query: nothing when memory holds nothing on it, or the run is briefed for it anyway."""
        found: list[MemoryEntry] = []
        session = None if self._sessions.briefed(user_id, query) else self._session(user_id)
        if session is not None:
            with guard(session, "search"):
                found = await session.aio.run(partial(_search, session, query))
        return SearchMemoryResponse(memories=found)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase one item from every place where the memory keeps it.

        Args:
            memory_id: The `id` of an entry that was found.

        Raises:
            ValueError: No id is given.
            NotFound: The memory holds no such item.
            AssayError: The store failed.
        """
        if memory_id is None:
            raise ValueError("name the memory_id; a whole user is erased by StoreRouter.erase_user")
        session = self._sessions.of_key(SessionKey(user_id or None))
        await session.aio.run(partial(_erase, session, memory_id))

    def close(self) -> None:
        """Close the stores that it opened."""
        self._sessions.close()

    def _session(
        self, user: str, session: str | None = None, run: str | None = None, agent: str | None = None
    ) -> Session | None:
        return self._sessions.guarded(lambda: self._sessions.of_key(SessionKey(user or None, session, agent), run=run))


def _search(session: Session, query: str) -> list[MemoryEntry]:
    with session.store() as store:
        return [_entry(hit) for hit in store.recall(query)]


def _erase(session: Session, ref: str) -> None:
    with session.store() as store:
        store.erase(ref)


def _entry(hit: Hit) -> MemoryEntry:
    # The host pastes entries into a prompt, inside tags that anyone can guess: a ref and one JSON string close none.
    line = f"{hit.ref} {json.dumps(hit.text, ensure_ascii=False)}".replace("<", "\\u003c")
    told = hit.episode
    return MemoryEntry(
        id=hit.ref,
        content=Content(role="user", parts=[Part(text=line)]),
        author=told.source if told else "memory",
        timestamp=told.recorded_at.isoformat() if told else None,
        custom_metadata={"trust": hit.trust.value, "score": hit.score},
    )
