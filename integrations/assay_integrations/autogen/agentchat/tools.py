"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from autogen_core.tools import FunctionTool

from assay.session import RECALL, REMEMBER, SessionKey, SessionOptions, StoreRouter, Target
from assay_integrations.autogen.agentchat.place import ClientTalk, talk_of

__all__ = ["tools", "tools_of"]


def tools(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> list[FunctionTool]:
    """Make the tools `recall` and `remember` for an agent; a tool of this host is told of no user and no session.

    Args:
        target: What `AssayChatCompletionContext` takes; both may have the same `StoreRouter`.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        agent = AssistantAgent("helper", client, tools=[*tools("memory/{user}.db", user="ada")])
    """
    return tools_of(talk_of(target, SessionKey(user, session), None, (), options))


def tools_of(talk: ClientTalk) -> list[FunctionTool]:
    """Make the tools for the agents of a conversation."""

    async def recall(query: str) -> str:
        return await talk.sessions.arecall(talk.caller, query)

    async def remember(text: str) -> str:
        return await talk.sessions.aremember(talk.caller, text)

    return [FunctionTool(recall, RECALL, name="recall"), FunctionTool(remember, REMEMBER, name="remember")]
