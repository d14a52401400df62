"""A session of the Agents SDK that remembers: where no `AssayRunner` can run the agent, it records what it is given."""

from __future__ import annotations

from functools import partial

from agents import SQLiteSession, TResponseInputItem
from agents.memory import Session as HostSession
from agents.memory import SessionSettings

from assay.session import (
    AnyComposer,
    SessionKey,
    SessionOptions,
    StoreRouter,
    Target,
    WrapResult,
    arguments_of,
    field_of,
    guard,
)
from assay_integrations.openai_agents import items
from assay_integrations.openai_agents.place import Sessions, remembered

__all__ = ["AssaySession"]


class AssaySession:
    """Keeps the items of a conversation in a session of the host's own, and records in a memory what they say.

    It is for `Runner.run(..., session=)`. Inside an `AssayRunner` it only keeps the items, for the run is recorded.

    Args:
        session_id: The session, in the host and in the memory.
        target: What `AssayRunner` takes.
        user: Whose memory it is; a store for one user needs none.
        underlying_session: Keeps the items; by default the host's `SQLiteSession` in memory.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        await Runner.run(agent, "Deploys go out on Tuesday", session=AssaySession("s1", "memory.db"))
    """

    def __init__(
        self,
        session_id: str,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        underlying_session: HostSession | None = None,
        options: SessionOptions | None = None,
    ) -> None:
        self._sessions = Sessions(target, options)
        self._session = self._sessions.of_key(SessionKey(user, session_id))
        self._items = underlying_session or SQLiteSession(session_id)
        self._owned = underlying_session is None
        self._calls: dict[str, str] = {}
        self.session_id = session_id
        self.session_settings: SessionSettings | None = self._items.session_settings

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Give the newest items of this conversation, in their order; of other sessions there is nothing in them."""
        return await self._items.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep items, and record what they say."""
        await self._items.add_items(items)
        if not remembered():
            with guard(self._session, "record"):
                await self._session.aio.run(partial(self._record, items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item away; what was recorded of it stays: `store.erase` removes that."""
        return await self._items.pop_item()

    async def clear_session(self) -> None:
        """Take all items away; what was recorded of them stays."""
        await self._items.clear_session()

    async def end(self, composer: AnyComposer, *, now: bool = False) -> WrapResult:
        """Close what is open, and let a composer consolidate if it is time.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        await self._session.aio.end()
        return await self._session.aio.wrap(composer, now=now)

    def close(self) -> None:
        """Close what it opened."""
        self._sessions.close()
        if self._owned and isinstance(self._items, SQLiteSession):
            self._items.close()

    def _record(self, new: list[TResponseInputItem]) -> None:
        for item in new:
            self._tell(item)
        if new and field_of(new[-1], "role") == "assistant":
            self._session.run_ended(items.text_of(new[-1]))

    def _tell(self, item: TResponseInputItem) -> None:
        call_id = field_of(item, "call_id")
        match field_of(item, "type") or "message", field_of(item, "role"):
            case "message", "user":
                self._session.run_started()
                self._session.user_message(items.text_of(item))
            case "message", "assistant":
                self._session.agent_message(items.text_of(item))
            case "function_call", _:
                name = self._calls[call_id] = field_of(item, "name")
                self._session.tool_call(name, arguments_of(field_of(item, "arguments")), call_id=call_id)
            case "function_call_output", _:
                name = self._calls.get(call_id, "tool")
                self._session.tool_result(name, field_of(item, "output"), call_id=call_id)
            case _:  # reasoning, and what only the host's own servers read
                pass
