"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool

from assay.session import RECALL, REMEMBER, Session, SessionOptions, StoreRouter, Target, field_of
from assay_integrations.langgraph.place import Sessions

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
        return sessions.of_tool(runtime.context, field_of(runtime.state, "messages") or ())

    def recall(query: str, runtime: Runtime) -> str:
        return sessions.recall(of(runtime), query)

    async def arecall(query: str, runtime: Runtime) -> str:
        return await sessions.arecall(of(runtime), query)

    def remember(text: str, runtime: Runtime) -> str:
        return sessions.remember(of(runtime), text)

    async def aremember(text: str, runtime: Runtime) -> str:
        return await sessions.aremember(of(runtime), text)

    return [
        StructuredTool.from_function(recall, coroutine=arecall, name="recall", description=RECALL),
        StructuredTool.from_function(remember, coroutine=aremember, name="remember", description=REMEMBER),
    ]
