"""The call of an agent's own chat generator that writes its continuity."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from haystack.dataclasses import ChatMessage, StreamingChunk

__all__ = ["acompose", "compose"]


def compose(generator: Any, prompt: str) -> str:
    """Let a generator answer a prompt of the wrap: beside the steps of the agent, and heard by no stream of its own."""
    return str(
        generator.run(**_quietly(generator, _unheard), messages=[ChatMessage.from_user(prompt)])["replies"][0].text
    )


async def acompose(generator: Any, prompt: str) -> str:
    """Do the same from an event loop."""
    if not hasattr(generator, "run_async"):
        return await asyncio.to_thread(partial(compose, generator, prompt))
    given = _quietly(generator, _aunheard)
    return str((await generator.run_async(**given, messages=[ChatMessage.from_user(prompt)]))["replies"][0].text)


def _quietly(generator: Any, unheard: object) -> dict[str, Any]:
    return {"streaming_callback": unheard} if getattr(generator, "streaming_callback", None) else {}


def _unheard(chunk: StreamingChunk) -> None:
    """Let nobody hear."""


async def _aunheard(chunk: StreamingChunk) -> None:
    """Let nobody hear."""
