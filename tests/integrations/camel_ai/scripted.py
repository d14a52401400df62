"""A model of CAMEL that says what a script says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from camel.messages import OpenAIMessage
from camel.models.stub_model import StubModel
from camel.types import ChatCompletion, ChatCompletionChunk, ModelType

from assay.testing import Call, Say, Script

__all__ = ["ScriptedModel", "whole"]


class ScriptedModel(StubModel):
    """Answers from the lane of one agent; in pieces when its configuration says so."""

    def __init__(self, script: Script, agent: str = "main") -> None:
        super().__init__(ModelType.STUB, model_config_dict={})
        self._script = script
        self._agent = agent

    def _run(self, messages: list[OpenAIMessage], *rest: Any, **more: Any) -> Any:
        message = self._reply(messages)
        return _pieces(message) if self.model_config_dict.get("stream") else whole(message)

    async def _arun(self, messages: list[OpenAIMessage], *rest: Any, **more: Any) -> Any:
        message = self._reply(messages)
        return _apieces(message) if self.model_config_dict.get("stream") else whole(message)

    def _reply(self, messages: list[OpenAIMessage]) -> dict[str, Any]:
        received: list[Any] = [*messages]
        step = self._script.reply([(one["role"], _text(one)) for one in received], agent=self._agent)
        if isinstance(step, Call):
            function = {"name": step.name, "arguments": json.dumps(step.args)}
            return {"role": "assistant", "tool_calls": [{"id": step.id, "type": "function", "function": function}]}
        assert isinstance(step, Say), "agents of this host do not transfer"
        return {"role": "assistant", "content": str(step.text)}


def _text(message: Any) -> str:
    content, calls = message.get("content") or "", message.get("tool_calls") or ()
    named = [f"{call['function']['name']} {call['function']['arguments']}" for call in calls]
    return "\n".join([*([str(content)] if content else []), *named])


def whole(message: dict[str, Any]) -> ChatCompletion:
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return ChatCompletion.model_validate(
        {
            "id": "scripted",
            "model": "scripted",
            "object": "chat.completion",
            "created": 1,
            "choices": [{"index": 0, "finish_reason": reason, "message": message, "logprobs": None}],
            "usage": {"completion_tokens": 1, "prompt_tokens": 1, "total_tokens": 2},
        }
    )


def _pieces(message: dict[str, Any]) -> Iterator[ChatCompletionChunk]:
    calls = message.get("tool_calls", ())
    for place, call in enumerate(calls):
        yield _piece({"role": "assistant", "tool_calls": [{"index": place, **call}]})
    for place, word in enumerate(message["content"].split(" ") if "content" in message else ()):
        yield _piece({"role": "assistant", "content": f" {word}" if place else word})
    yield _piece({}, "tool_calls" if calls else "stop")


async def _apieces(message: dict[str, Any]) -> AsyncIterator[ChatCompletionChunk]:
    for piece in _pieces(message):
        yield piece


def _piece(delta: dict[str, Any], reason: str | None = None) -> ChatCompletionChunk:
    return ChatCompletionChunk.model_validate(
        {
            "id": "scripted",
            "model": "scripted",
            "object": "chat.completion.chunk",
            "created": 1,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
    )
