"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

from camel.models import BaseModelBackend
from camel.types import ChatCompletion

__all__ = ["acompose", "compose"]


def compose(model: BaseModelBackend, prompt: str) -> str:
    """Let a model answer a prompt of the wrap, beside every step: no memory, usage or choice of the next model."""
    given: Any = model.run([{"role": "user", "content": prompt}])
    if isinstance(given, ChatCompletion):
        return given.choices[0].message.content or ""
    return "".join(map(_delta, cast("Iterator[Any]", given)))


async def acompose(model: BaseModelBackend, prompt: str) -> str:
    """Do the same from an event loop."""
    given: Any = await model.arun([{"role": "user", "content": prompt}])
    if isinstance(given, ChatCompletion):
        return given.choices[0].message.content or ""
    return "".join([_delta(chunk) async for chunk in cast("AsyncIterator[Any]", given)])


def _delta(chunk: Any) -> str:
    return str(chunk.choices[0].delta.content or "") if chunk.choices else ""
