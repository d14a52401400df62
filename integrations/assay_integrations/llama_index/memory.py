"""A memory of LlamaIndex: keeps a conversation as the host does, records what happens in it, and briefs the model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.llama_index import events, spans
from assay_integrations.llama_index.composing import acompose, compose
from assay_integrations.llama_index.items import is_answer, placed, words
from assay_integrations.llama_index.place import Run, Sessions, run_id
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import Memory

__all__ = ["AssayMemory", "begin", "session"]


class AssayMemory(Memory):
    """Gives an agent a memory that outlives its conversation.

    Pass it to **every** run, `agent.run(..., memory=memory)`: a context of the host keeps no memory between runs.
    Make it with `from_defaults`, or let `session` make it, which also consolidates.
    """

    _sessions: Sessions = PrivateAttr()
    _user: str | None = PrivateAttr(default=None)
    _agent: str | None = PrivateAttr(default=None)
    _last: Run | None = PrivateAttr(default=None)

    @classmethod
    def class_name(cls) -> str:
        """Name the class, for the host."""
        return "AssayMemory"

    @classmethod
    def from_defaults(  # type: ignore[override]  # what holds the memory comes first
        cls,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        agent: str | None = None,
        options: SessionOptions | None = None,
        **settings: Any,
    ) -> AssayMemory:
        """Make a memory.

        Args:
            target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
                `StoreRouter` that others share.
            user: Whose memory it is; a store for one user needs none.
            agent: The name of a sub-agent, where the host does not tell it.
            options: What is recorded, when it is consolidated, where and how large a briefing is.
            **settings: Those of `Memory.from_defaults`, such as `session_id` and `memory_blocks`.

        Raises:
            MissingUser: The target holds a store per user and no user is named.
        """
        memory: Any = cast("Any", super()).from_defaults(**settings)
        memory._sessions, memory._user, memory._agent = Sessions(target, options), user, agent
        memory._sessions.of_key(memory.key)
        made: AssayMemory = memory
        return made

    @property
    def key(self) -> SessionKey:
        """Say whose conversation it is."""
        return SessionKey(self._user, self.session_id, self._agent)

    # -- the conversation ------------------------------------------------------------------------------------------

    async def aget(self, input: Any = None, **block_kwargs: Any) -> list[ChatMessage]:
        """Give the conversation: in a run, with the briefing before the newest words of the person."""
        messages = await super().aget(input, **block_kwargs)
        run = self._run
        if run is None and run_id() is not None and messages and messages[-1].role is MessageRole.USER:
            run = self._last = await begin(self, self._sessions, self.key, words(messages[-1]))  # of a history alone
        if run is None:
            return messages
        await run.relay.settled()
        session = run.session
        return placed(messages, session.asked, run.block if run.owner is self else "", session.options.placement)

    async def aput(self, message: ChatMessage) -> None:
        """Keep a message; a person's begins a run."""
        await super().aput(message)
        run = self._run
        if message.role is MessageRole.USER:
            self._last = await begin(self, self._sessions, self.key, words(message))
        elif run is not None and run_id() is None and is_answer(message):  # of a chat engine, which has no steps
            events.said(run, message)
            events.ended(run)
            await run.relay.settled()

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Keep what a run has said and done; its steps have told of it before."""
        await super().aput_messages(messages)
        run = self._run
        if run is not None:
            if messages and is_answer(messages[-1]):
                events.ended(run)
            await run.relay.settled()

    # -- the session -----------------------------------------------------------------------------------------------

    async def awrap(self) -> None:
        """Consolidate if it is time, with the model that the agent used last."""
        run = self._last
        if run is not None:
            await run.relay.settled()
            await self._sessions.awrap(run.session, acompose)

    def end_session(self, *, now: bool = False) -> WrapResult:
        """Consolidate the session, which is over, with the model that its agent used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self._sessions.end(self.key, compose, now=now)

    async def aend_session(self, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self._sessions.aend(self.key, acompose, now=now)

    def close(self) -> None:
        """Close the stores that it opened; runs after this are not remembered."""
        self._sessions.close()

    @property
    def _run(self) -> Run | None:
        """Give the run that the caller is in; outside of one, the turn of a chat engine that has no answer yet."""
        here, last = run_id(), self._last
        return last if here is None and last is not None and not last.over else spans.found(here)


@asynccontextmanager
async def session(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
    **settings: Any,
) -> AsyncGenerator[AssayMemory]:
    """Open a session: runs inside the block take its memory, and at its end it is consolidated if it is time.

    Args:
        target: What `AssayMemory.from_defaults` takes, and so are `user`, `options` and the settings.
        session: The conversation; by default a new one.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        async with session("memory/{user}.db", user="ada") as memory:
            await agent.run("When do deploys go out?", memory=memory)
    """
    memory = AssayMemory.from_defaults(target, user=user, options=options, session_id=session, **settings)
    try:
        yield memory
        await memory.awrap()
    finally:
        memory.close()


async def begin(owner: object, sessions: Sessions, key: SessionKey, text: str) -> Run:
    """Begin a run with what a person says, and hear its steps."""
    here = run_id()
    told = sessions.of_run(SessionKey(key.user, key.session, spans.agent_name() or key.agent), here)
    run = Run(sessions, told, owner, loop=asyncio.get_running_loop())
    with guard(told, "run_started"):
        run.block = await told.aio.run(partial(events.began, told, text, here))
    if here is not None:
        spans.heard(here, run)
    return run
