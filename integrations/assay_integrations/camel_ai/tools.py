"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from collections.abc import Callable

from camel.toolkits import FunctionTool

from assay.session import RECALL, REMEMBER, Session, SessionKey, SessionOptions, StoreRouter, Target
from assay_integrations.camel_ai.place import Sessions

__all__ = ["tools"]


def tools(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    options: SessionOptions | None = None,
) -> list[FunctionTool]:
    """Make the tools `recall` and `remember` for an agent.

    Args:
        target: What `AssayAgentMemory` takes; give both the same `StoreRouter`, user and session to let them share.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        router = StoreRouter("memory/{user}.db")
        whose = {"user": "ada", "session": "monday"}
        agent = AssayChatAgent(model=model, memory=AssayAgentMemory(router, **whose), tools=tools(router, **whose))
    """
    sessions, key = Sessions(target, options), SessionKey(user, session, agent)
    sessions.of_key(key)

    def of() -> Session | None:
        return sessions.guarded(lambda: sessions.of_key(key))

    def recall(query: str) -> str:
        return sessions.recall(of(), query)

    def remember(text: str) -> str:
        return sessions.remember(of(), text)

    return [_tool(recall, RECALL, "query"), _tool(remember, REMEMBER, "text")]


def _tool(function: Callable[[str], str], description: str, argument: str) -> FunctionTool:
    # What the model reads of a tool is its docstring.
    function.__doc__ = f"{description}\n\nArgs:\n    {argument} (str): One sentence."
    return FunctionTool(function)
