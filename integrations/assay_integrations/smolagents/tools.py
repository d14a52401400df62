"""The two tools with which a model uses its memory on purpose."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
from __future__ import annotations

from collections.abc import Callable

from assay.session import RECALL, REMEMBER, SessionKey, SessionOptions, StoreRouter, Target
from assay_integrations.smolagents.place import Sessions
from smolagents import Tool

__all__ = ["tools"]


def tools(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> list[Tool]:
    """Make the tools `recall` and `remember` for an agent.

    User and session are those of the run that calls them; `user` and `session` are for an agent without an attached
    memory. An agent that has them cannot be saved by the host: they hold a store.

    Args:
        target: What `session` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = ToolCallingAgent(tools(router), model)
        with session(router, user="ada") as memory:
            memory.attach(agent).run("What do you know?")
    """
    sessions = Sessions(target, SessionKey(user, session), options)

    def recall(query: str) -> str:
        return sessions.recall(sessions.of_tool(), query)

    def remember(text: str) -> str:
        return sessions.remember(sessions.of_tool(), text)

    return [_MemoryTool(recall, "query", RECALL), _MemoryTool(remember, "text", REMEMBER)]


class _MemoryTool(Tool):  # type: ignore[no-untyped-call]
    output_type = "string"
    skip_forward_signature_validation = True  # it takes what its inputs name

    def __init__(self, answer: Callable[[str], str], argument: str, description: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.name, self.description = answer.__name__, description
        self.inputs = {argument: {"type": "string", "description": f"The {argument}."}}
        self._answer = answer

    def forward(self, *texts: str, **named: str) -> str:
        return self._answer(*texts, *named.values())
