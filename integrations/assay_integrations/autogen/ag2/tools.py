"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from ag2 import tool
from ag2.annotations import Context
from ag2.tools.final import FunctionTool

from assay.session import RECALL, REMEMBER, SessionOptions, StoreRouter, Target
from assay_integrations.autogen.ag2.place import Sessions

__all__ = ["tools"]


def tools(target: Target | StoreRouter, *, options: SessionOptions | None = None) -> list[FunctionTool]:
    """Make the tools `recall` and `remember` for an agent; user and session are those of the turn.

    Args:
        target: What `AssayMiddleware` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = Agent("helper", config=config, tools=tools(router), middleware=[AssayMiddleware(router)])
    """
    sessions = Sessions(target, options)

    async def recall(query: str, context: Context) -> str:
        return await sessions.arecall(sessions.of_tool(context), query)

    async def remember(text: str, context: Context) -> str:
        return await sessions.aremember(sessions.of_tool(context), text)

    return [tool(recall, description=RECALL), tool(remember, description=REMEMBER)]
