"""A memory for `create_agent`: records what happens in its runs and briefs every call of its model."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage

from assay import Store
from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.langgraph import events
from assay_integrations.langgraph.composing import acompose, compose
from assay_integrations.langgraph.place import Sessions
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Command

__all__ = ["AssayMiddleware"]

State = AgentState[Any]
Request = ModelRequest[Any]
Response = ModelResponse[Any]
Returned = ToolMessage | Command[Any]


class AssayMiddleware(AgentMiddleware[State, Any, Any]):
    """Gives an agent a memory that outlives its threads.

    Put it first among the middlewares: it then sees a call of a model or a tool after their retries and fallbacks. One
    object serves any number of runs, threads and users at once. The session is the run's `thread_id`; the user is
    `user_id` of its context, or of its `configurable`.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        options: What is recorded, when it is consolidated, where and how large a briefing is.
        name: Name of its nodes in the graph; two memories of one agent need two names, and have them by default.

    Example:
        agent = create_agent(model, tools, middleware=[AssayMiddleware("memory/{user}.db")])
        agent.invoke({"messages": [...]}, {"configurable": {"thread_id": "t1", "user_id": "ada"}})
    """

    def __init__(
        self, target: Target | StoreRouter, *, options: SessionOptions | None = None, name: str | None = None
    ) -> None:
        super().__init__()
        self.tools = ()
        self._sessions = Sessions(target, options)
        self._name = name or f"{type(self).__name__}-{_digest(target)}"

    @property
    def name(self) -> str:
        """Give the name of its nodes in the graph."""
        return self._name

    # -- the run ---------------------------------------------------------------------------------------------------

    def before_agent(self, state: State, runtime: Runtime[Any]) -> None:
        """Open the run and record what the person said."""
        session = self._sessions.of_agent(runtime.context, state["messages"])
        if session is not None:
            with guard(session, "run_started"):
                events.began(session, state["messages"])

    async def abefore_agent(self, state: State, runtime: Runtime[Any]) -> None:
        """Do the same from an event loop."""
        session = self._sessions.of_agent(runtime.context, state["messages"])
        if session is not None:
            with guard(session, "run_started"):
                await session.aio.run(partial(events.began, session, state["messages"]))

    def after_agent(self, state: State, runtime: Runtime[Any]) -> None:
        """Close the run, and consolidate if it is time."""
        session = self._sessions.of_agent(runtime.context, state["messages"])
        if session is not None:
            with guard(session, "run_ended"):
                events.ended(session, state)
            self._sessions.wrap(session, compose)

    async def aafter_agent(self, state: State, runtime: Runtime[Any]) -> None:
        """Do the same from an event loop."""
        session = self._sessions.of_agent(runtime.context, state["messages"])
        if session is not None:
            with guard(session, "run_ended"):
                await session.aio.run(partial(events.ended, session, state))
            await self._sessions.awrap(session, acompose)

    # -- the model -------------------------------------------------------------------------------------------------

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Response]) -> Response:
        """Brief the model, and record what it says or how it fails."""
        session = self._sessions.of_agent(request.runtime.context, request.messages)
        if session is None:
            return handler(request)
        self._sessions.keep_model(session, request.model)
        with guard(session, "briefing"):
            place, asks = events.question(session, request.messages)
            request = events.briefed(session, request, place, session.briefing(asks).text)
        try:
            response = handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            with guard(session, "run_failed"):
                session.run_failed(error)
            raise
        with guard(session, "agent_message"):
            events.said(session, response.result)
        return response

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Response]]) -> Response:
        """Do the same from an event loop."""
        session = self._sessions.of_agent(request.runtime.context, request.messages)
        if session is None:
            return await handler(request)
        self._sessions.keep_model(session, request.model)
        with guard(session, "briefing"):
            place, asks = events.question(session, request.messages)
            request = events.briefed(session, request, place, (await session.aio.briefing(asks)).text)
        try:
            response = await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            with guard(session, "run_failed"):
                await session.aio.run_failed(error)
            raise
        if events.speaks(response.result):
            with guard(session, "agent_message"):
                await session.aio.run(partial(events.said, session, response.result))
        return response

    # -- the tools -------------------------------------------------------------------------------------------------

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Returned]) -> Returned:
        """Record the call of a tool, and what it gives or how it fails."""
        session = self._session_of(request)
        if session is None:
            return handler(request)
        name, call_id = request.tool_call["name"], request.tool_call["id"]
        with guard(session, "tool_call"):
            session.tool_call(name, request.tool_call["args"], call_id=call_id)
        try:
            with self._sessions.calling(session):
                result = handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            with guard(session, "tool_error"):
                session.tool_error(name, error, call_id=call_id)
            raise
        with guard(session, "tool_result"):
            events.returned(session, name, call_id, result)
        return result

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Returned]]
    ) -> Returned:
        """Do the same from an event loop."""
        session = self._session_of(request)
        if session is None:
            return await handler(request)
        name, call_id = request.tool_call["name"], request.tool_call["id"]
        with guard(session, "tool_call"):
            await session.aio.tool_call(name, request.tool_call["args"], call_id=call_id)
        try:
            with self._sessions.calling(session):
                result = await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            with guard(session, "tool_error"):
                await session.aio.tool_error(name, error, call_id=call_id)
            raise
        with guard(session, "tool_result"):
            await session.aio.run(partial(events.returned, session, name, call_id, result))
        return result

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agent used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self._sessions.end(key, compose, now=now)

    async def aend_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self._sessions.aend(key, acompose, now=now)

    def close(self) -> None:
        """Close the stores that it opened; runs after this are not remembered."""
        self._sessions.close()

    def _session_of(self, request: ToolCallRequest) -> Session | None:
        context: object = request.runtime.context  # pyright: ignore[reportUnknownMemberType]  # a bare ToolRuntime
        return self._sessions.of_agent(context, request.state["messages"])


def _digest(target: Target | StoreRouter) -> str:
    """Tell the memories of one agent apart, by the same name in every process where there is a path."""
    place = target.path if isinstance(target, Store) else target
    return hashlib.sha256(str(place).encode()).hexdigest()[:8]
