"""A memory for agents of AG2: records what happens in their turns and briefs every call of their model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from functools import partial

from ag2.annotations import Context
from ag2.events import (
    BaseEvent,
    BuiltinToolCallEvent,
    BuiltinToolResultEvent,
    ModelResponse,
    ToolCallEvent,
    ToolNotFoundEvent,
)
from ag2.middleware import AgentTurn, BaseMiddleware, LLMCall, ToolExecution, ToolResultType

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.autogen.ag2 import events as told
from assay_integrations.autogen.ag2.composing import acompose
from assay_integrations.autogen.ag2.place import Sessions, model_of

__all__ = ["AssayMiddleware"]

# What no hook is called for: tools that the provider runs, and calls of tools that do not exist.
_ELSEWHERE = BuiltinToolCallEvent | BuiltinToolResultEvent | ToolNotFoundEvent


class AssayMiddleware(BaseMiddleware):
    """Gives an agent a memory that outlives its streams.

    Put it first among the middleware: it then sees a call of a model or a tool as the turn does, after others have
    changed it. One object serves any number of agents, streams and users at once. The user is the variable `user_id`;
    the session is the variable `session_id`, else the id of the stream.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Example:
        agent = Agent("helper", config=config, middleware=[AssayMiddleware("memory/{user}.db")])
        await agent.ask("When do deploys go out?", variables={"user_id": "ada", "session_id": "monday"})
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self._sessions = Sessions(target, options)
        self._session: Session | None = None

    def __call__(self, event: BaseEvent, context: Context) -> AssayMiddleware:
        """Make the object whose hooks one turn calls: it knows the turn's session."""
        hooks = copy(self)
        hooks.initial_event, hooks.context = event, context
        hooks._session = self._sessions.of_turn(context)
        return hooks

    # -- the turn --------------------------------------------------------------------------------------------------

    async def on_turn(self, call_next: AgentTurn, event: BaseEvent, context: Context) -> ModelResponse:
        """Open the run with what the person said, and close it; then consolidate if it is time."""
        session = self._session
        if session is None:
            return await call_next(event, context)
        with guard(session, "run_started"):
            await session.aio.run(partial(told.began, session, event))
        try:
            with context.stream.where(_ELSEWHERE).sub_scope(self._ran_elsewhere):
                response = await call_next(event, context)
        except Exception as error:
            with guard(session, "run_failed"):
                await session.aio.run_failed(error)
            raise
        over = False
        with guard(session, "run_ended"):
            over = await session.aio.run(partial(told.ended, session, response))
        if over:
            await self._sessions.awrap(session, acompose)
        return response

    # -- the model -------------------------------------------------------------------------------------------------

    async def on_llm_call(self, call_next: LLMCall, events: Sequence[BaseEvent], context: Context) -> ModelResponse:
        """Brief the model, and record what it says; the turn records how it fails."""
        session = self._session
        if session is None:
            return await call_next(events, context)
        model = model_of(context)
        if model is not None:
            self._sessions.keep_model(session, model)
        given = events, context
        with guard(session, "briefing"):
            given = await told.briefed(session, events, context)
        response = await call_next(*given)
        if response.content:
            with guard(session, "agent_message"):
                await session.aio.agent_message(response.content)
        return response

    # -- the tools -------------------------------------------------------------------------------------------------

    async def on_tool_execution(
        self, call_next: ToolExecution, event: ToolCallEvent, context: Context
    ) -> ToolResultType:
        """Record the call of a tool, and what it gives or how it fails."""
        session = self._session
        if session is None:
            return await call_next(event, context)
        with guard(session, "tool_call"):
            await session.aio.run(partial(told.used, session, event))
        try:
            with self._sessions.calling(session):
                result = await call_next(event, context)
        except Exception as error:
            with guard(session, "tool_error"):
                await session.aio.tool_error(event.name, error, call_id=event.id)
            raise
        with guard(session, "tool_result"):
            await session.aio.run(partial(told.used, session, result))
        return result

    async def _ran_elsewhere(self, event: BaseEvent) -> None:
        session = self._session
        if session is not None:
            with guard(session, "tool_result"):
                await session.aio.run(partial(told.used, session, event))

    # -- the session -----------------------------------------------------------------------------------------------

    @property
    def router(self) -> StoreRouter:
        """Give what holds the stores, for the memory tools and whoever else shares them."""
        return self._sessions.router

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agent used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return asyncio.run(self.aend_session(key, now=now))

    async def aend_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self._sessions.aend(key, acompose, now=now)

    def close(self) -> None:
        """Close the stores that it opened; turns after this are not remembered."""
        self._sessions.close()
