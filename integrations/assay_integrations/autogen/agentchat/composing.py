"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from autogen_core.models import ChatCompletionClient, UserMessage

__all__ = ["acompose"]


async def acompose(model: ChatCompletionClient, prompt: str) -> str:
    """Let a model answer a prompt of the wrap, beside every run: no context, stream or result sees it."""
    answer = (await model.create([UserMessage(content=prompt, source="user")])).content
    return answer if isinstance(answer, str) else ""
