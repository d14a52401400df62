"""A model client of AutoGen that says what a script says."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    CreateResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import Tool, ToolSchema

from assay.testing import Call, HandOff, Say, Script

__all__ = ["ScriptedClient"]

_USAGE = RequestUsage(prompt_tokens=1, completion_tokens=1)


class ScriptedClient(ChatCompletionClient):
    """Answers from the lane of one agent."""

    component_config_schema = dict

    def __init__(self, script: Script, agent: str = "main") -> None:
        self._script = script
        self._agent = agent

    async def create(self, messages: Sequence[LLMMessage], **given: Any) -> CreateResult:
        step = self._script.reply(_received(messages), agent=self._agent)
        match step:
            case Say():
                return CreateResult(finish_reason="stop", content=str(step.text), usage=_USAGE, cached=False)
            case Call():
                call = FunctionCall(step.id, json.dumps(dict(step.args)), step.name)
            case HandOff():
                call = FunctionCall("handoff", "{}", f"transfer_to_{step.to}")
        return CreateResult(finish_reason="function_calls", content=[call], usage=_USAGE, cached=False)

    async def create_stream(
        self, messages: Sequence[LLMMessage], **given: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        result = await self.create(messages)
        if isinstance(result.content, str):
            for place, word in enumerate(result.content.split(" ")):
                yield f" {word}" if place else word
        yield result

    async def close(self) -> None:
        pass

    def actual_usage(self) -> RequestUsage:
        return _USAGE

    def total_usage(self) -> RequestUsage:
        return _USAGE

    def count_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        return 0

    def remaining_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        return 10_000

    @property
    def capabilities(self) -> Any:
        return self.model_info

    @property
    def model_info(self) -> ModelInfo:
        return ModelInfo(
            vision=False, function_calling=True, json_output=True, family="unknown", structured_output=False
        )


def _received(messages: Sequence[LLMMessage]) -> Iterator[tuple[str, str]]:
    for message in messages:
        match message:
            case SystemMessage():
                yield "system", message.content
            case UserMessage():
                yield "user", message.content if isinstance(message.content, str) else repr(message.content)
            case AssistantMessage() if isinstance(message.content, str):
                yield "assistant", message.content
            case FunctionExecutionResultMessage():
                yield from (("tool", result.content) for result in message.content)
            case _:  # calls of tools
                pass
