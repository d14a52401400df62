"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

import asyncio

from autogen import ConversableAgent

__all__ = ["acompose", "compose"]


def compose(agent: ConversableAgent, prompt: str) -> str:
    """Let an agent's client answer a prompt of the wrap, beside every chat: no hook, history or output sees it."""
    client = agent.client
    if client is None:
        return ""
    # What a client streams goes to the host's output.
    response = client.create(messages=[{"role": "user", "content": prompt}], cache=None, agent=agent, stream=False)
    answer: object = client.extract_text_or_completion_object(response)[0]
    return answer if isinstance(answer, str) else str(getattr(answer, "content", None) or "")


async def acompose(agent: ConversableAgent, prompt: str) -> str:
    """Do the same from an event loop; the clients of this host know no other way."""
    return await asyncio.to_thread(compose, agent, prompt)
