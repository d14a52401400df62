"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from typing import Any

from assay.session import RECALL, REMEMBER, SessionOptions, StoreRouter, Target
from assay_integrations.pydantic_ai.place import Sessions
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import FunctionToolset

__all__ = ["tools"]


def tools(target: Target | StoreRouter, *, options: SessionOptions | None = None) -> FunctionToolset[Any]:
    """Make a toolset with `recall` and `remember` for an agent; user and session are those of the run.

    Args:
        target: What `AssayCapability` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = Agent(model, toolsets=[tools(router)], capabilities=[AssayCapability(router)])
    """
    sessions = Sessions(target, options)

    async def recall(ctx: RunContext[Any], query: str) -> str:
        return await sessions.arecall(sessions.of_tool(ctx), query)

    async def remember(ctx: RunContext[Any], text: str) -> str:
        return await sessions.aremember(sessions.of_tool(ctx), text)

    toolset: FunctionToolset[Any] = FunctionToolset(id="assay-memory")
    toolset.add_function(recall, description=RECALL)
    toolset.add_function(remember, description=REMEMBER)
    return toolset
