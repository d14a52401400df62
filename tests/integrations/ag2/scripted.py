"""A model of AG2 that says what a script says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from ag2.config import LLMClient, ModelConfig, ModelProvider
from ag2.context import ConversationContext
from ag2.events import (
    BaseEvent,
    DataInput,
    Input,
    ModelMessage,
    ModelMessageChunk,
    ModelRequest,
    ModelResponse,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResultsEvent,
    Usage,
)

from assay.testing import Call, HandOff, Say, Script

__all__ = ["ScriptedModel"]

_TEXTS = (TextInput, DataInput)


class ScriptedModel(ModelConfig):
    """Answers from the lane of one agent, whichever client is asked."""

    def __init__(self, script: Script, agent: str = "main") -> None:
        self._script = script
        self._agent = agent

    @property
    def provider(self) -> ModelProvider:
        return ModelProvider.OPENAI

    @property
    def model(self) -> str:
        return "scripted"

    def copy(self) -> ScriptedModel:
        return self

    def create(self) -> LLMClient:
        return _Client(self._script, self._agent)

    def create_files_client(self) -> NoReturn:
        raise NotImplementedError("a script has no files")


class _Client(LLMClient):
    def __init__(self, script: Script, agent: str) -> None:
        self._script = script
        self._agent = agent

    async def __call__(self, messages: Sequence[BaseEvent], context: ConversationContext, **more: Any) -> ModelResponse:
        system = [("system", text) for text in context.prompt]
        step = self._script.reply([*system, *_received(messages)], agent=self._agent)
        match step:
            case Say():
                text = str(step.text)
                for place, word in enumerate(text.split(" ")):
                    await context.send(ModelMessageChunk(f" {word}" if place else word))
                message = ModelMessage(text)
                await context.send(message)
                return ModelResponse(message, usage=Usage(prompt_tokens=1, completion_tokens=1))
            case Call():
                call = ToolCallEvent(step.name, id=step.id, arguments=json.dumps(dict(step.args)))
                return ModelResponse(tool_calls=ToolCallsEvent([call]))
            case HandOff():
                raise AssertionError("this host has no transfers")


def _received(messages: Sequence[BaseEvent]) -> Iterator[tuple[str, str]]:
    for message in messages:
        match message:
            case ModelRequest():
                yield "user", _text(message.parts)
            case ToolResultsEvent():
                for result in message.results:
                    yield "tool", _without_places(_text(result.result.parts))
            case ModelResponse() if message.content:
                yield "assistant", message.content
            case _:  # calls, chunks, and what the host notes for itself
                pass


def _text(parts: Sequence[Input]) -> str:
    texts = [part.content if isinstance(part, TextInput) else part.data for part in parts if isinstance(part, _TEXTS)]
    return "\n".join(map(str, texts))


def _without_places(text: str) -> str:
    """Leave out the frames of a traceback: this host hands it to the model, and each middleware adds a frame."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(" "))
