"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from assay.session import RECALL, REMEMBER, SessionKey, SessionOptions, StoreRouter, Target
from assay_integrations.autogen.ag2_classic.place import AgentTalk, Sessions
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
    return tools_of(AgentTalk.of(Sessions(target, options), SessionKey(user, session)))


def tools_of(talk: AgentTalk) -> list[Tool]:
    """Make the tools for the agents of a conversation."""

    def recall(query: str) -> str:
        return talk.sessions.recall(talk.caller, query)

    def remember(text: str) -> str:
        return talk.sessions.remember(talk.caller, text)

    made = {"recall": (recall, RECALL), "remember": (remember, REMEMBER)}
    return [Tool(name=name, description=says, func_or_tool=verb) for name, (verb, says) in made.items()]
