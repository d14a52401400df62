"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from pydantic_ai.direct import model_request, model_request_sync
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model

__all__ = ["acompose", "compose"]


def compose(model: Model, prompt: str) -> str:
    """Let a model answer a prompt of the wrap, beside every run: no history, no usage, no trace of it is kept."""
    return model_request_sync(model, [ModelRequest.user_text_prompt(prompt)], instrument=False).text or ""


async def acompose(model: Model, prompt: str) -> str:
    """Do the same from an event loop."""
    return (await model_request(model, [ModelRequest.user_text_prompt(prompt)], instrument=False)).text or ""
