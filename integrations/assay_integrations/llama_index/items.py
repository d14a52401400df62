"""What the messages of LlamaIndex say, and where in a conversation a briefing stands."""

from __future__ import annotations

from collections.abc import Sequence

from assay.session import Placement, question_in
from llama_index.core.base.llms.types import TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole

__all__ = ["asked_in", "is_answer", "placed", "words"]


def words(message: ChatMessage) -> str:
    """Give the text of a message: without the model's thoughts, and with media named, never dumped."""
    parts: list[str] = []
    for block in message.blocks:
        if isinstance(block, TextBlock):
            parts.append(block.text)
        elif not isinstance(block, (ThinkingBlock, ToolCallBlock)):
            parts.append(f"[{block.block_type}]")
    return "\n".join(part for part in parts if part)


def asked_in(messages: Sequence[ChatMessage]) -> str:
    """Give what a person said last."""
    return next((words(one) for one in reversed(messages) if one.role is MessageRole.USER), "")


def is_answer(message: ChatMessage) -> bool:
    """Tell whether a message ends a run: an agent's, that calls no tool."""
    calls = any(isinstance(block, ToolCallBlock) for block in message.blocks)
    return message.role is MessageRole.ASSISTANT and not calls and not message.additional_kwargs.get("tool_calls")


def placed(messages: Sequence[ChatMessage], asked: str, block: str, placement: Placement) -> list[ChatMessage]:
    """Put a briefing into a conversation, as a message of its own."""
    if not block:
        return [*messages]
    if placement is Placement.SYSTEM:
        return [ChatMessage(role=MessageRole.SYSTEM, content=block), *messages]
    users = {place: words(one) for place, one in enumerate(messages) if one.role is MessageRole.USER}
    place, _ = question_in(users, asked, len(messages))
    return [*messages[:place], ChatMessage(role=MessageRole.USER, content=block), *messages[place:]]
