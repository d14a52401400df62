"""A chat generator of Haystack that says what a script says."""

from __future__ import annotations

from typing import Any

from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, ToolCall

from assay.testing import Call, Say, Script

__all__ = ["scripted"]


def scripted(script: Script, agent: str = "main", **more: Any) -> MockChatGenerator:
    """Make the host's own generator for tests, answering from the lane of one agent."""

    def answer(messages: list[ChatMessage], tools: Any = None) -> ChatMessage:
        reply = script.reply([(message.role.value, _text(message)) for message in messages], agent=agent)
        if isinstance(reply, Say):
            return ChatMessage.from_assistant(str(reply.text))
        assert isinstance(reply, Call), "no agent of Haystack hands a run over"
        given = dict(reply.args)
        if reply.name == "ask_sub":  # an agent is asked by messages
            given = {"messages": [{"role": "user", "content": [{"text": given["question"]}]}]}
        return ChatMessage.from_assistant(tool_calls=[ToolCall(reply.name, given, id=reply.id)])

    return MockChatGenerator(response_fn=answer, **more)


def _text(message: ChatMessage) -> str:
    results = [str(result.result) for result in message.tool_call_results]
    calls = [f"{call.tool_name} {call.arguments}" for call in message.tool_calls]
    return "\n".join([*message.texts, *calls, *results])
