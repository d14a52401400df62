"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from assay.session import RECALL, REMEMBER, SessionKey, SessionOptions, StoreRouter, Target
from assay_integrations.haystack.place import Sessions
from haystack.tools.from_function import create_tool_from_function  # pyright: ignore[reportUnknownVariableType]
from haystack.tools.tool import Tool

__all__ = ["tools"]


def tools(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> list[Tool]:
    """Make the tools `recall` and `remember` for an agent.

    User and session are those of the run that calls them; `user` and `session` are for an agent without hooks.

    Args:
        target: What `AssayHook` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = AssayHook(router).attach(Agent(chat_generator=generator, tools=tools(router)))
    """
    sessions, key = Sessions(target, options), SessionKey(user, session)

    def recall(query: str) -> str:
        return sessions.recall(sessions.of_tool(key), query)

    def remember(text: str) -> str:
        return sessions.remember(sessions.of_tool(key), text)

    return [
        create_tool_from_function(recall, description=RECALL),
        create_tool_from_function(remember, description=REMEMBER),
    ]
