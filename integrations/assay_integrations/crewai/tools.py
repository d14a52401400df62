"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.session import RECALL, REMEMBER, SessionOptions, StoreRouter, Target
from assay_integrations.crewai.place import Sessions
from crewai.tools import BaseTool
from crewai.tools import tool as make_tool

__all__ = ["tools"]


def tools(target: Target | StoreRouter, *, options: SessionOptions | None = None) -> list[BaseTool]:
    """Make the tools `recall` and `remember` for an agent; user and session are those of the block around the kickoff.

    Args:
        target: What `session` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = Agent(role="...", goal="...", backstory="...", tools=tools(router))
        with session(router, user="ada"):
            agent.kickoff("What do you know?")
    """
    sessions = Sessions(target, options)

    def recall(query: str) -> str:
        return sessions.recall(sessions.of_tool(), query)

    def remember(text: str) -> str:
        return sessions.remember(sessions.of_tool(), text)

    return [_tool(recall, RECALL), _tool(remember, REMEMBER)]


def _tool(function: Callable[..., str], description: str) -> BaseTool:
    function.__doc__ = description
    made: BaseTool = make_tool(function.__name__)(function)
    # The host answers an equal call from its cache; what memory holds has changed by then.
    made.cache_function = _never
    return made


def _never(arguments: Any = None, result: Any = None) -> bool:
    return False
