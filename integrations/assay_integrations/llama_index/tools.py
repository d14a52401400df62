"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from assay.session import RECALL, REMEMBER, SessionKey, SessionOptions, StoreRouter, Target
from assay_integrations.llama_index.place import Sessions
from llama_index.core.tools import FunctionTool

__all__ = ["tools"]


def tools(
    target: Target | StoreRouter, *, user: str | None = None, options: SessionOptions | None = None
) -> list[FunctionTool]:
    """Make the tools `recall` and `remember` for an agent; user and session are those of the run.

    Args:
        target: What `session` takes; give both the same `StoreRouter` to let them share their stores.
        user: Whose memory is meant outside of a run with a memory.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = FunctionAgent(llm=llm, tools=tools(router))
        async with session(router, user="ada") as memory:
            await agent.run("What do you know?", memory=memory)
    """
    sessions, key = Sessions(target, options), SessionKey(user)

    async def recall(query: str) -> str:
        return await sessions.arecall(sessions.of_tool(key), query)

    async def remember(text: str) -> str:
        return await sessions.aremember(sessions.of_tool(key), text)

    return [
        FunctionTool.from_defaults(async_fn=recall, name="recall", description=RECALL),
        FunctionTool.from_defaults(async_fn=remember, name="remember", description=REMEMBER),
    ]
