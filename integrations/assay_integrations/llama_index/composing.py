"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

import asyncio
from contextvars import Context

from llama_index.core.llms import LLM, ChatMessage, MessageRole

__all__ = ["acompose", "compose"]


def compose(model: LLM, prompt: str) -> str:
    """Let a model answer a prompt of the wrap, in a context of its own: what hears it knows of no run and no tags."""
    return str(Context().run(model.chat, [ChatMessage(role=MessageRole.USER, content=prompt)]).message.content)


async def acompose(model: LLM, prompt: str) -> str:
    """Do the same from an event loop."""
    asked = [ChatMessage(role=MessageRole.USER, content=prompt)]
    response = await asyncio.get_running_loop().create_task(model.achat(asked), context=Context())
    return str(response.message.content)
