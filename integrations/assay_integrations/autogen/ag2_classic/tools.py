"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from assay.session import (
    RECALL,
    REMEMBER,
    Session,
    SessionKey,
    SessionOptions,
    StoreRouter,
    Target,
    recall_tool,
    remember_tool,
)
from assay_integrations.autogen.ag2_classic.place import Talk
from autogen.tools import Tool

__all__ = ["tools", "tools_of"]


def tools(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> list[Tool]:
    """Make the tools `recall` and `remember` for an agent; a tool of this host is told of no user and no session.

    Args:
        target: What `session` takes; both may have the same `StoreRouter`.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        for tool in tools("memory/{user}.db", user="ada"):
            tool.register_for_llm(helper)
            tool.register_for_execution(executor)
    """
    return tools_of(Talk.of(target, SessionKey(user, session), options))


def tools_of(talk: Talk) -> list[Tool]:
    """Make the tools for the agents of a conversation."""

    def of() -> Session:
        # Of the agents that wait for their tools the last one is the innermost.
        return talk.session.named([None, *talk.calling.values()][-1])

    def recall(query: str) -> str:
        return talk.sessions.use(of(), lambda session: recall_tool(session, query))

    def remember(text: str) -> str:
        return talk.sessions.use(of(), lambda session: remember_tool(session, text))

    made = {"recall": (recall, RECALL), "remember": (remember, REMEMBER)}
    return [Tool(name=name, description=says, func_or_tool=verb) for name, (verb, says) in made.items()]
