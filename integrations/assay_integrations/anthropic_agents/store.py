"""A session store of the SDK that remembers: where no hooks can be attached, it records what transcripts say."""

from __future__ import annotations

from functools import partial

from claude_agent_sdk import (
    InMemorySessionStore,
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

from assay.session import AnyComposer, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay.session import SessionKey as MemoryKey
from assay_integrations.anthropic_agents.place import Sessions
from assay_integrations.anthropic_agents.transcript import Transcript

__all__ = ["AssaySessionStore"]

_OPTIONAL = ("list_sessions", "list_session_summaries", "delete", "list_subkeys")


class AssaySessionStore(SessionStore):
    """Keeps transcripts in a store of the host's own kind, and records in a memory what they say.

    It is for `ClaudeAgentOptions(session_store=)`. A conversation that an `AssaySDKClient` or `AssayHooks` with the
    same `StoreRouter` hears is only kept, for it is recorded. Transcripts of sub-agents are only kept.

    Args:
        target: What `AssaySDKClient` takes.
        user: Whose memory it is; a store for one user needs none.
        agent: Name under which the agent's own words are recorded.
        underlying: Keeps the transcripts; by default the host's `InMemorySessionStore`.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        options = ClaudeAgentOptions(session_store=AssaySessionStore("memory.db"))
    """

    def __init__(
        self,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        agent: str | None = None,
        underlying: SessionStore | None = None,
        options: SessionOptions | None = None,
    ) -> None:
        self._sessions = Sessions(target, MemoryKey(user, None, agent), options)
        self._underlying = underlying or InMemorySessionStore()
        self._transcripts: dict[str, Transcript] = {}
        for name in _OPTIONAL:
            # The host asks whether a store has them by their absence.
            if getattr(type(self._underlying), name, None) in (None, getattr(SessionStore, name, None)):
                setattr(self, name, None)

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Keep entries, and record what they say."""
        await self._underlying.append(key, entries)
        session_id = key["session_id"]
        if "subpath" in key or self._sessions.hears(session_id):
            return
        session = self._sessions.of_key(MemoryKey(self._sessions.key.user, session_id, self._sessions.key.agent))
        transcript = self._transcripts.setdefault(session_id, Transcript(session))
        with guard(session, "record"):
            await session.aio.run(partial(transcript.record, entries))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Give the entries of a transcript, or None; of other sessions there is nothing in them."""
        return await self._underlying.load(key)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """List the sessions of a project."""
        return await self._underlying.list_sessions(project_key)

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """List the summaries of a project's sessions."""
        return await self._underlying.list_session_summaries(project_key)

    async def delete(self, key: SessionKey) -> None:
        """Delete a transcript; what was recorded of it stays: `store.erase` removes that."""
        self._transcripts.pop(key["session_id"], None)
        await self._underlying.delete(key)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """List the transcripts of a session's sub-agents."""
        return await self._underlying.list_subkeys(key)

    async def end_session(self, session_id: str, composer: AnyComposer, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and let a composer consolidate if it is time.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        session = self._sessions.of_key(MemoryKey(self._sessions.key.user, session_id, self._sessions.key.agent))
        await session.aio.end()
        return await session.aio.wrap(composer, now=now)

    def close(self) -> None:
        """Close the stores that it opened; what is said after this is not remembered."""
        self._sessions.close()
