"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from typing import Any

from agents import Tool, function_tool
from agents.tool_context import ToolContext

from assay.session import RECALL, REMEMBER, Session, SessionOptions, StoreRouter, Target, field_of
from assay_integrations.openai_agents.place import Sessions

__all__ = ["tools"]


def tools(target: Target | StoreRouter, *, options: SessionOptions | None = None) -> list[Tool]:
    """Make the tools `recall` and `remember` for an agent.

    User and session are those of the run; without an `AssayRunner` on the same `StoreRouter` they are `user_id` and
    `session_id` of the run's context.

    Args:
        target: What `AssayRunner` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = Agent("assistant", tools=tools(router))
        await AssayRunner(router).run(agent, "What do you know?", user="ada")
    """
    sessions = Sessions(target, options)

    def of(context: ToolContext[Any]) -> Session | None:
        return sessions.of_tool(context.context, field_of(context.agent, "name"))

    async def recall(context: ToolContext[Any], query: str) -> str:
        return await sessions.arecall(of(context), query)

    async def remember(context: ToolContext[Any], text: str) -> str:
        return await sessions.aremember(of(context), text)

    return [
        function_tool(recall, description_override=RECALL),
        function_tool(remember, description_override=REMEMBER),
    ]
