"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from contextvars import Context

from crewai import BaseLLM

__all__ = ["compose"]


def compose(model: BaseLLM, prompt: str) -> str:
    """Let a model answer a prompt of the wrap.

    It is called in a context of its own: what the host shows of a run (its stream, the agent and the task of an
    event) follows context variables, so the call belongs to no run.
    """
    return str(Context().run(model.call, [{"role": "user", "content": prompt}]))
