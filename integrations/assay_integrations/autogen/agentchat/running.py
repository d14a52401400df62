"""A conversation with agents and teams of AutoGen that is remembered, with its runs seen from outside."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from typing import Any

from autogen_agentchat.base import TaskResult, TaskRunner
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import ChatCompletionClient
from autogen_core.tools import FunctionTool

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.autogen.agentchat import events
from assay_integrations.autogen.agentchat.composing import acompose
from assay_integrations.autogen.agentchat.context import TalkContext
from assay_integrations.autogen.agentchat.items import Task, as_message, messages_of
from assay_integrations.autogen.agentchat.place import PERSON, ClientTalk, talk_of
from assay_integrations.autogen.agentchat.tools import tools_of

__all__ = ["SessionMemory", "session"]

Seen = BaseAgentEvent | BaseChatMessage | TaskResult


class SessionMemory:
    """The memory of one conversation; made by `session(...)`."""

    def __init__(self, talk: ClientTalk) -> None:
        self._talk = talk

    def context(self, inner: ChatCompletionContext | None = None) -> TalkContext:
        """Make the model context of one agent; agents that speak with one another have one each.

        Args:
            inner: Keeps the messages; by default the host's `UnboundedChatCompletionContext`.
        """
        return TalkContext(self._talk, inner)

    def tools(self) -> list[FunctionTool]:
        """Make the tools `recall` and `remember` for an agent."""
        return tools_of(self._talk)

    async def run(self, runner: TaskRunner, *, task: Task = None, **given: Any) -> TaskResult:
        """Run an agent or a team as its own `run` does, and record how the run begins and ends."""
        result: Seen | None = None
        async for seen in self.run_stream(runner, task=task, **given):
            result = seen
        assert isinstance(result, TaskResult), "the host ends a stream with its result"
        return result

    async def run_stream(self, runner: TaskRunner, *, task: Task = None, **given: Any) -> AsyncGenerator[Seen, None]:
        """Run an agent or a team as its own `run_stream` does, and record how the run begins and ends."""
        task = as_message(task)
        if self._talk.calling:
            async for seen in runner.run_stream(task=task, **given):
                yield seen
            return
        async with self._watched(task), aclosing(runner.run_stream(task=task, **given)) as stream:
            async for seen in stream:
                if isinstance(seen, TaskResult):
                    await self._end(seen)
                else:
                    await self._overhear(seen)
                yield seen

    async def aend_session(self, *, now: bool = False) -> WrapResult:
        """Close what the session has open, and consolidate with the client.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return await self._talk.sessions.aend(self._talk.session, acompose, now=now)

    @asynccontextmanager
    async def _watched(self, task: Task) -> AsyncGenerator[None]:
        talk, session = self._talk, self._talk.session
        spoken = [message for message in messages_of(task) if message.source in talk.people]
        with talk.watching():
            try:
                with guard(session, "run_started"):
                    await session.aio.run(partial(events.began, session, spoken))
                yield
            except Exception as error:
                with guard(session, "run_failed"):
                    await session.aio.run_failed(error)
                raise

    async def _overhear(self, message: BaseAgentEvent | BaseChatMessage) -> None:
        """Record what a person says while the run is going on; under the name of the task, agents speak to others."""
        if isinstance(message, BaseChatMessage) and message.source in self._talk.people - {PERSON}:
            with guard(self._talk.session, "user_message"):
                await self._talk.session.aio.run(partial(events.asked, self._talk.session, message))

    async def _end(self, result: TaskResult) -> None:
        session = self._talk.session
        with guard(session, "run_ended"):
            await session.aio.run(partial(events.ended, session, result))
        await self._talk.sessions.awrap(session, acompose)


@contextmanager
def session(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    client: ChatCompletionClient | None = None,
    people: Iterable[str] = (),
    options: SessionOptions | None = None,
) -> Generator[SessionMemory]:
    """Open the memory of one conversation, and close what it opened when the block ends.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        user: Whose memory it is; a store for one user needs none.
        session: The conversation; None for a new one.
        client: Composes when it is time to consolidate; without it and without `WrapPolicy(model=)` nothing does.
        people: Names of agents that speak for a person, such as a `UserProxyAgent`.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        with session("memory/{user}.db", user="ada", session="monday", client=client) as memory:
            agent = AssistantAgent("helper", client, model_context=memory.context())
            await memory.run(agent, task="When do deploys go out?")
    """
    talk = talk_of(target, SessionKey(user, session), client, people, options)
    try:
        yield SessionMemory(talk)
    finally:
        talk.sessions.close()
