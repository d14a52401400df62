"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool

from assay.session import (
    RECALL,
    REMEMBER,
    Session,
    SessionOptions,
    StoreRouter,
    Target,
    guard,
    recall_tool,
    remember_tool,
)
from assay_integrations.langgraph.place import Sessions, field

__all__ = ["tools"]

Runtime = ToolRuntime[Any, Any]
_UNAVAILABLE = "Memory is not available at the moment."


def tools(target: Target | StoreRouter, *, options: SessionOptions | None = None) -> list[BaseTool]:
    """Make the tools `recall` and `remember` for an agent; user and session are those of the run.

    Args:
        target: What `AssayMiddleware` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = create_agent(model, tools(router), middleware=[AssayMiddleware(router)])
    """
    sessions = Sessions(target, options)

    def recall(query: str, runtime: Runtime) -> str:
        return _use(sessions, runtime, lambda session: recall_tool(session, query))

    async def arecall(query: str, runtime: Runtime) -> str:
        return await _ause(sessions, runtime, lambda session: recall_tool(session, query))

    def remember(text: str, runtime: Runtime) -> str:
        return _use(sessions, runtime, lambda session: remember_tool(session, text))

    async def aremember(text: str, runtime: Runtime) -> str:
        return await _ause(sessions, runtime, lambda session: remember_tool(session, text))

    return [
        StructuredTool.from_function(recall, coroutine=arecall, name="recall", description=RECALL),
        StructuredTool.from_function(remember, coroutine=aremember, name="remember", description=REMEMBER),
    ]


def _use(sessions: Sessions, runtime: Runtime, verb: Callable[[Session], str]) -> str:
    session = sessions.of_tool(runtime.context, field(runtime.state, "messages") or ())
    return _UNAVAILABLE if session is None else guard.value(session, partial(verb, session), _UNAVAILABLE, "tool")


async def _ause(sessions: Sessions, runtime: Runtime, verb: Callable[[Session], str]) -> str:
    session = sessions.of_tool(runtime.context, field(runtime.state, "messages") or ())
    if session is not None:
        with guard(session, "tool"):
            return await session.aio.run(partial(verb, session))
    return _UNAVAILABLE
