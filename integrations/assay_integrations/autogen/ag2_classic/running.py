"""A conversation with agents of AG2 classic that is remembered, with its runs seen from outside."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from types import TracebackType

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.autogen.ag2_classic.composing import acompose, compose
from assay_integrations.autogen.ag2_classic.hooks import Hooks
from assay_integrations.autogen.ag2_classic.place import AgentTalk, Sessions
from assay_integrations.autogen.ag2_classic.tools import tools_of
from autogen import ConversableAgent
from autogen.tools import Tool

__all__ = ["Run", "SessionMemory", "session"]


class SessionMemory:
    """The memory of one conversation; made by `session(...)`."""

    def __init__(self, talk: AgentTalk) -> None:
        self._talk = talk
        self._attached: dict[int, Hooks] = {}

    def attach(self, agent: ConversableAgent) -> None:
        """Give an agent this memory, unless it has it: each agent with a model of those that speak together.

        Raises:
            ValueError: It has no model, so that what it says is a person's or a tool's; or the memory of another
                conversation is attached to it.
        """
        if not getattr(agent, "llm_config", None):
            raise ValueError(f"{agent.name} has no model: attach the agents that answer, not who asks them")
        if id(agent) not in self._attached:
            hooks = Hooks(self._talk, agent)
            hooks.attach()
            self._attached[id(agent)] = hooks

    def detach(self) -> None:
        """Take the memory off every agent, as the end of the block does."""
        for hooks in self._attached.values():
            hooks.detach()
        self._attached.clear()

    def run(self) -> Run:
        """Mark a block, `with` or `async with`, as one run: it ends well, or fails with what leaves the block."""
        return Run(self._talk)

    def tools(self) -> list[Tool]:
        """Make the tools `recall` and `remember` for an agent."""
        return tools_of(self._talk)

    def end_session(self, *, now: bool = False) -> WrapResult:
        """Close what the session has open, and consolidate with the model of the agent that spoke last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self._talk.sessions.end(self._talk.session, compose, now=now)

    async def aend_session(self, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self._talk.sessions.aend(self._talk.session, acompose, now=now)


class Run:
    """A block in which agents chat: one run of a conversation, of which a tool may be running another one."""

    def __init__(self, talk: AgentTalk) -> None:
        self._talk = talk
        self._watched = talk.watching()
        self._own = False

    def __enter__(self) -> None:
        self._own = self._watched.__enter__()
        if self._own:
            with guard(self._talk.session, "run_started"):
                self._talk.session.run_started()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        session = self._talk.session
        self._watched.__exit__(None, None, None)
        if not self._own:
            return
        if error is not None:
            with guard(session, "run_failed"):
                session.run_failed(error)
            return
        with guard(session, "run_ended"):
            session.run_ended(None)
        self._talk.sessions.wrap(session, compose)

    async def __aenter__(self) -> None:
        self._own = self._watched.__enter__()
        if self._own:
            with guard(self._talk.session, "run_started"):
                await self._talk.session.aio.run_started()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        session = self._talk.session
        self._watched.__exit__(None, None, None)
        if not self._own:
            return
        if error is not None:
            with guard(session, "run_failed"):
                await session.aio.run_failed(error)
            return
        with guard(session, "run_ended"):
            await session.aio.run_ended(None)
        await self._talk.sessions.awrap(session, acompose)


@contextmanager
def session(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    people: Iterable[str] = (),
    options: SessionOptions | None = None,
) -> Generator[SessionMemory]:
    """Open the memory of one conversation; the end of the block takes it off its agents and closes what it opened.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        user: Whose memory it is; a store for one user needs none.
        session: The conversation; None for a new one.
        people: Names under which a person speaks in a group chat; in a chat of two, an agent without a model does.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        with session("memory/{user}.db", user="ada", session="monday") as memory:
            memory.attach(helper)
            with memory.run():
                person.initiate_chat(helper, message="When do deploys go out?")
    """
    talk = AgentTalk.of(Sessions(target, options), SessionKey(user, session), people)
    memory = SessionMemory(talk)
    try:
        yield memory
    finally:
        memory.detach()
        talk.sessions.close()
