"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from ag2 import MemoryStream
from ag2.config import ModelConfig
from ag2.context import ConversationContext
from ag2.events import ModelRequest
from fast_depends.pydantic import PydanticSerializer

__all__ = ["acompose"]


async def acompose(model: ModelConfig, prompt: str) -> str:
    """Let a model answer a prompt of the wrap, beside every turn: what its client sends goes to a stream of its own."""
    response = await model.create()(
        [ModelRequest.ensure_request([prompt])],
        ConversationContext(MemoryStream()),
        tools=(),
        response_schema=None,
        serializer=PydanticSerializer(pydantic_config={"arbitrary_types_allowed": True}, use_fastdepends_errors=False),
    )
    return response.content or ""
