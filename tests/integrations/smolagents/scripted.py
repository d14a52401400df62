"""A model of smolagents that says what a script says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from smolagents import ChatMessage, MessageRole, Model
from smolagents.models import (
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
)

from assay.testing import Call, Say, Script
from assay.testing.script import Reply

__all__ = ["ScriptedModel"]

# What the host writes before the words of a task, and around those of an agent that manages another one.
TASK = "New task:\n"


class ScriptedModel(Model):
    """Answers from the lane of one agent: an agent says its answer by the tool `final_answer`.

    Attributes:
        received: The messages to the letter; the script's log has tasks without what the host writes around them.
    """

    def __init__(self, script: Script, agent: str = "main") -> None:
        super().__init__(model_id="scripted")
        self.script = script
        self.agent = agent
        self.received: list[list[ChatMessage]] = []

    def generate(self, messages: Any, *arguments: Any, **more: Any) -> ChatMessage:
        reply = self._reply(messages)
        if isinstance(reply, Say) and "tools_to_call_from" not in more:
            return ChatMessage(role=MessageRole.ASSISTANT, content=str(reply.text))
        name, given, call_id = _called(reply)
        call = ChatMessageToolCallFunction(name=name, arguments=given)
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content="",
            tool_calls=[ChatMessageToolCall(id=call_id, type="function", function=call)],
        )

    def generate_stream(self, messages: Any, *arguments: Any, **more: Any) -> Iterator[ChatMessageStreamDelta]:
        name, given, call_id = _called(self._reply(messages))
        whole = json.dumps(given)
        for part in (name, whole[:5], whole[5:]):
            function = ChatMessageToolCallFunction(
                name=name if part is name else "", arguments="" if part is name else part
            )
            yield ChatMessageStreamDelta(
                content=None,
                tool_calls=[ChatMessageToolCallStreamDelta(index=0, id=call_id, type="function", function=function)],
            )

    def _reply(self, messages: Sequence[ChatMessage]) -> Reply:
        self.received.append([*messages])
        shown = [(MessageRole(message.role).value, _text(message)) for message in messages]
        return self.script.reply(shown, agent=self.agent)


def _called(reply: Reply) -> tuple[str, dict[str, Any], str]:
    if isinstance(reply, Say):
        return "final_answer", {"answer": str(reply.text)}, "answer"
    assert isinstance(reply, Call), "no agent of smolagents hands a run over"
    if reply.name == "ask_sub":  # an agent that is managed is called by its own name, and given a task
        return "sub", {"task": reply.args["question"]}, reply.id
    return reply.name, dict(reply.args), reply.id


def _text(message: ChatMessage) -> str:
    content: Any = message.content
    text = content if isinstance(content, str) else "\n".join(part["text"] for part in content or ())
    return text.removeprefix(TASK)
