"""A block of the host's own `Memory` that records the runs it is asked in, and gives what earlier ones left."""

from __future__ import annotations

from typing import Any

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.llama_index import events, spans
from assay_integrations.llama_index.composing import acompose
from assay_integrations.llama_index.items import asked_in, is_answer
from assay_integrations.llama_index.memory import begin
from assay_integrations.llama_index.place import Sessions, run_id
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemoryBlock

__all__ = ["AssayMemoryBlock"]


class AssayMemoryBlock(BaseMemoryBlock[str]):
    """Gives an agent a memory that outlives its conversation, beside other blocks of the host's `Memory`.

    The host puts it where its blocks stand, inside a message: choose `insert_method=InsertMethod.USER`, for what is
    recalled is data. An `AssayMemory` has it in a message of its own.

    Args:
        target: What `AssayMemory.from_defaults` takes, and so are `user` and `options`.
        settings: Those of `BaseMemoryBlock`, such as `name` and `priority`.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        blocks = [AssayMemoryBlock("memory/{user}.db", user="ada")]
        memory = Memory.from_defaults(memory_blocks=blocks, insert_method=InsertMethod.USER)
        await agent.run("When do deploys go out?", memory=memory)
    """

    _sessions: Sessions = PrivateAttr()
    _user: str | None = PrivateAttr(default=None)

    def __init__(
        self,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        options: SessionOptions | None = None,
        **settings: Any,
    ) -> None:
        given: dict[str, Any] = {"name": "assay", "accept_short_term_memory": False, **settings}
        super().__init__(**given)
        self._sessions, self._user = Sessions(target, options), user
        self._sessions.of_key(SessionKey(user))

    async def aend_session(self, session: str, *, now: bool = False) -> WrapResult:
        """Consolidate a session, by the `session_id` of the memory, with the model that its agent used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return await self._sessions.aend(SessionKey(self._user, session), acompose, now=now)

    def close(self) -> None:
        """Close the stores that it opened; runs after this are not remembered."""
        self._sessions.close()

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        here, told = run_id(), messages or []
        key = SessionKey(self._user, block_kwargs.get("session_id"))
        if here is None:  # a chat engine, or a search: nothing says when its turn ends
            session = self._sessions.of_key(key)
            with guard(session, "briefing"):
                return str(await session.aio.found(asked_in(told)))
            return ""
        run = spans.found(here) or await begin(self, self._sessions, key, asked_in(told))
        if run.owner is not self:  # the memory around it is one of ours, and has placed the briefing
            return ""
        if told and is_answer(told[-1]) and not run.over:
            events.ended(run)
        await run.relay.settled()
        return run.block

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Leave what the host moves out of its short memory: it was recorded when it was said."""
