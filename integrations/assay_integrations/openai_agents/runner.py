"""A runner with a memory: what the host's own `Runner` does, recorded and briefed."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from agents import Agent, MaxTurnsExceeded, RunErrorHandlers, RunHooks, Runner, RunResult, RunResultStreaming
from agents.memory import Session as HostSession

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult, field_of, guard
from assay_integrations.openai_agents.composing import Config, compose
from assay_integrations.openai_agents.events import Events, Given
from assay_integrations.openai_agents.hooks import MemoryHooks
from assay_integrations.openai_agents.place import Sessions

__all__ = ["AssayRunner"]

TContext = TypeVar("TContext")
T = TypeVar("T")


AnyHooks = RunHooks[Any] | None
Named = HostSession | str | None


class RunArguments(TypedDict, Generic[TContext], total=False):
    """What the methods of `Runner` take besides, handed on as it is."""

    context: TContext | None
    max_turns: int | None
    error_handlers: RunErrorHandlers[TContext] | None
    previous_response_id: str | None
    auto_previous_response_id: bool
    conversation_id: str | None


class AssayRunner:
    """Runs agents with a memory that outlives their sessions; call it where you would call `Runner`.

    One object serves any number of agents, users and runs at once. Hooks, filter and formatter of a run stay in place,
    before the memory's. A run that a tool of another one starts belongs to its caller's session.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Example:
        runner = AssayRunner("memory/{user}.db")
        result = await runner.run(agent, "When do we deploy?", user="ada", session="s1")
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self._sessions = Sessions(target, options)

    # -- runs ------------------------------------------------------------------------------------------------------

    async def run(
        self,
        starting_agent: Agent[TContext],
        input: Given,
        *,
        user: str | None = None,
        session: Named = None,
        hooks: AnyHooks = None,
        run_config: Config = None,
        **arguments: Unpack[RunArguments[TContext]],
    ) -> RunResult:
        """Run an agent to its output, as `Runner.run` does.

        Args:
            user: Whose memory it is; a store for one user needs none.
            session: The host's session, which keeps the items and whose id names the session of the memory; or the id
                alone. Left out, the run's `conversation_id` or `group_id` names it, or nothing does.

        Raises:
            MissingUser: The target holds a store per user and no user is named.
        """
        key = SessionKey(user, _id(session, run_config, arguments), starting_agent.name)
        hooked = self._hooked(key, starting_agent, input, hooks, run_config)
        try:
            with self._sessions.running(hooked.session):
                result = await Runner.run(starting_agent, input, **hooked.given(_host(session)), **arguments)
        except Exception as error:
            await hooked.failed(error)
            raise
        await hooked.finished()
        return result

    def run_sync(
        self,
        starting_agent: Agent[TContext],
        input: Given,
        *,
        user: str | None = None,
        session: Named = None,
        hooks: AnyHooks = None,
        run_config: Config = None,
        **arguments: Unpack[RunArguments[TContext]],
    ) -> RunResult:
        """Do the same where no event loop runs, as `Runner.run_sync` does."""
        key = SessionKey(user, _id(session, run_config, arguments), starting_agent.name)
        hooked = self._hooked(key, starting_agent, input, hooks, run_config)
        try:
            with self._sessions.running(hooked.session):
                result = Runner.run_sync(starting_agent, input, **hooked.given(_host(session)), **arguments)
        except Exception as error:
            with guard(hooked.session, "run_failed"):
                hooked.events.failed(error)
            raise
        _drive(hooked.finished())
        return result

    def run_streamed(
        self,
        starting_agent: Agent[TContext],
        input: Given,
        *,
        user: str | None = None,
        session: Named = None,
        hooks: AnyHooks = None,
        run_config: Config = None,
        **arguments: Unpack[RunArguments[TContext]],
    ) -> RunResultStreaming:
        """Do the same with events, as `Runner.run_streamed` does; the stream ends when the run is recorded."""
        key = SessionKey(user, _id(session, run_config, arguments), starting_agent.name)
        hooked = self._hooked(key, starting_agent, input, hooks, run_config)
        with self._sessions.running(hooked.session):
            result = Runner.run_streamed(starting_agent, input, **hooked.given(_host(session)), **arguments)
        loop = result.run_loop_task
        if loop is not None:
            # The host waits for this task before it ends the stream or raises, and cancels it when it is told to.
            result.run_loop_task = asyncio.create_task(_followed(hooked, loop, result))
            result.run_loop_task.add_done_callback(lambda task: task.cancelled() and loop.cancel())
        return result

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model of the agent that it was started with.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return _drive(self.aend_session(key, now=now))

    async def aend_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self._sessions.aend(key, lambda composer, prompt: composer(prompt), now=now)

    def close(self) -> None:
        """Close the stores that it opened; runs after this are not remembered."""
        self._sessions.close()

    def _hooked(self, key: SessionKey, agent: Agent[Any], given: Given, hooks: AnyHooks, config: Config) -> MemoryHooks:
        session, composer = self._sessions.of_run(key), partial(compose, agent, config)
        self._sessions.keep_model(session, composer)
        return MemoryHooks(Events(session, given), hooks, config, composer)


async def _followed(hooked: MemoryHooks, run: asyncio.Task[Any], result: RunResultStreaming) -> Any:
    """Wait for a streamed run, and record how it ends."""
    try:
        ended = await run
    except Exception as error:
        await hooked.failed(error)
        raise
    turns = result.max_turns
    if turns is not None and result.current_turn > turns and hooked.output is None:
        # This error the host makes and raises where the stream is read.
        await hooked.failed(MaxTurnsExceeded(f"Max turns ({turns}) exceeded"))
    await hooked.finished()
    return ended


def _id(session: Named, config: Config, arguments: RunArguments[Any]) -> str | None:
    """Name a session by what names the conversation for the host, in the host's order."""
    if isinstance(session, str):
        return session
    named: str | None = None
    with suppress(ValueError):  # a conversation that the host is yet to create has no id
        named = session.session_id if session is not None else arguments.get("conversation_id")
    return named or field_of(config, "group_id")


def _host(session: Named) -> HostSession | None:
    return None if isinstance(session, str) else session


def _drive(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop that the host keeps for this thread: a model's connections belong to it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # in some releases of Python, where there is no loop yet
        try:
            loop = asyncio.get_event_loop()
        except RuntimeError:
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)
    return loop.run_until_complete(work)
