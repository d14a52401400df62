"""The two tools with which a model uses its memory on purpose."""

# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import dspy
from assay.session import RECALL, REMEMBER, SessionOptions, StoreRouter, Target
from assay_integrations.dspy.place import Sessions

__all__ = ["tools"]


def tools(target: Target | StoreRouter, *, options: SessionOptions | None = None) -> list[dspy.Tool]:
    """Make the tools `recall` and `remember` for an agent; user and session are those of the run.

    Args:
        target: What `session` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = dspy.ReAct("question -> answer", tools=tools(router))
        with session(router, user="ada"):
            agent(question="What do you know?")
    """
    sessions = Sessions(target, options)

    def recall(query: str) -> str:
        return sessions.recall(sessions.of_tool(), query)

    def remember(text: str) -> str:
        return sessions.remember(sessions.of_tool(), text)

    return [dspy.Tool(recall, desc=RECALL), dspy.Tool(remember, desc=REMEMBER)]
