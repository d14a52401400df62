"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

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
    recall_tool,
    remember_tool,
)
from assay_integrations.langgraph.place import Sessions, field

__all__ = ["tools"]

Runtime = ToolRuntime[Any, Any]


def tools(target: Target | StoreRouter, *, options: SessionOptions | None = None) -> list[BaseTool]:
    """Make the tools `recall` and `remember` for an agent; user and session are those of the run.

    Args:
        target: What `AssayMiddleware` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = create_agent(model, tools(router), middleware=[AssayMiddleware(router)])
    """
    sessions = Sessions(target, options)

    def of(runtime: Runtime) -> Session | None:
        return sessions.of_tool(runtime.context, field(runtime.state, "messages") or ())

    def recall(query: str, runtime: Runtime) -> str:
        return sessions.use(of(runtime), lambda session: recall_tool(session, query))

    async def arecall(query: str, runtime: Runtime) -> str:
        return await sessions.ause(of(runtime), lambda session: recall_tool(session, query))

    def remember(text: str, runtime: Runtime) -> str:
        return sessions.use(of(runtime), lambda session: remember_tool(session, text))

    async def aremember(text: str, runtime: Runtime) -> str:
        return await sessions.ause(of(runtime), lambda session: remember_tool(session, text))

    return [
        StructuredTool.from_function(recall, coroutine=arecall, name="recall", description=RECALL),
        StructuredTool.from_function(remember, coroutine=aremember, name="remember", description=REMEMBER),
    ]
