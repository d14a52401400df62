"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from typing import Any

from claude_agent_sdk import McpSdkServerConfig, create_sdk_mcp_server, tool

from assay.session import RECALL, REMEMBER, SessionKey, SessionOptions, StoreRouter, Target
from assay_integrations.anthropic_agents.place import Sessions

__all__ = ["tools"]


def tools(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> McpSdkServerConfig:
    """Make a server with the tools `recall` and `remember`, in this process.

    Their session is the one in which the user's agent spoke last: the host tells a tool nothing of its conversation.

    Args:
        target: What `AssaySDKClient` takes; give both the same `StoreRouter` to let them share stores and sessions.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        router = StoreRouter("memory/{user}.db")
        options = ClaudeAgentOptions(mcp_servers={"memory": tools(router, user="ada")}, allowed_tools=["mcp__memory"])
        client = AssaySDKClient(router, options, user="ada")
    """
    sessions = Sessions(target, SessionKey(user, session), options)

    @tool("recall", RECALL, {"query": str})
    async def recall(given: dict[str, Any]) -> dict[str, Any]:
        return _content(await sessions.arecall(sessions.of_tool(), given["query"]))

    @tool("remember", REMEMBER, {"text": str})
    async def remember(given: dict[str, Any]) -> dict[str, Any]:
        return _content(await sessions.aremember(sessions.of_tool(), given["text"]))

    return create_sdk_mcp_server("assay-memory", tools=[recall, remember])


def _content(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}
