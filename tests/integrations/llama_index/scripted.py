"""A model of LlamaIndex that says what a script says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM

from assay.testing import Call, HandOff, Say, Script

__all__ = ["scripted"]


def scripted(script: Script, agent: str = "main") -> MockFunctionCallingLLM:
    """Make a model that answers from the lane of one agent, in pieces where it is asked to."""

    def reply(messages: Sequence[ChatMessage], **more: Any) -> ChatMessage:
        step = script.reply([(message.role.value, _text(message)) for message in messages], agent=agent)
        match step:
            case Say():
                return ChatMessage(role=MessageRole.ASSISTANT, content=str(step.text))
            case Call():
                return _calling(step.name, dict(step.args), step.id)
            case HandOff():
                return _calling("handoff", {"to_agent": step.to, "reason": "it knows"}, "handoff")

    given: dict[str, Any] = {"response_generator": reply, "is_chat_model": True}
    return Scripted(**given)


class Scripted(MockFunctionCallingLLM):
    """The host's own mock gives each piece as the whole; this one gives words."""

    async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
        response = await self.achat(messages, **kwargs)

        async def stream() -> AsyncIterator[Any]:
            for said, delta in _pieces(response.message):
                yield response.model_copy(update={"message": said, "delta": delta})

        return stream()


def _pieces(message: ChatMessage) -> Iterator[tuple[ChatMessage, str]]:
    text = message.content
    if not text:
        yield message, ""
        return
    whole = ""
    for place, word in enumerate(text.split(" ")):
        delta = f" {word}" if place else word
        whole += delta
        yield ChatMessage(role=MessageRole.ASSISTANT, content=whole), delta


def _calling(name: str, arguments: dict[str, Any], call_id: str) -> ChatMessage:
    block = ToolCallBlock(tool_call_id=call_id, tool_name=name, tool_kwargs=arguments)
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=[block])


def _text(message: ChatMessage) -> str:
    called = [f"{one.tool_name} {one.tool_kwargs}" for one in message.blocks if isinstance(one, ToolCallBlock)]
    return "\n".join([*([message.content] if message.content else []), *called])
