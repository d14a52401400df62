"""A model of Pydantic AI that says what a script says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from assay.testing import Call, HandOff, Say, Script

__all__ = ["ScriptedModel"]


class ScriptedModel(FunctionModel):
    """Answers from the lane of one agent."""

    def __init__(self, script: Script, agent: str = "main") -> None:
        def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            return ModelResponse([_reply(script, agent, messages, info)])

        async def stream(
            messages: list[ModelMessage], info: AgentInfo
        ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
            part = _reply(script, agent, messages, info)
            if isinstance(part, ToolCallPart):
                yield {0: DeltaToolCall(part.tool_name, json.dumps(part.args), tool_call_id=part.tool_call_id)}
            else:
                for place, word in enumerate(part.content.split(" ")):
                    yield f" {word}" if place else word

        super().__init__(reply, stream_function=stream, model_name=f"scripted-{agent}")


def _reply(script: Script, agent: str, messages: Sequence[ModelMessage], info: AgentInfo) -> TextPart | ToolCallPart:
    system = [("system", info.instructions)] if info.instructions else []
    step = script.reply([*system, *_received(messages)], agent=agent)
    match step:
        case Say():
            return TextPart(str(step.text))
        case Call():
            return ToolCallPart(step.name, dict(step.args), step.id)
        case HandOff():
            return ToolCallPart(f"transfer_to_{step.to}", {"question": "As the person asked."}, "handoff")


def _received(messages: Sequence[ModelMessage]) -> Iterator[tuple[str, str]]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, SystemPromptPart):
                yield "system", part.content
            elif isinstance(part, UserPromptPart):
                yield "user", part.content if isinstance(part.content, str) else repr(part.content)
            elif isinstance(part, ToolReturnPart):
                yield "tool", part.model_response_str()
            elif isinstance(part, RetryPromptPart):
                yield "tool", part.model_response()
            elif isinstance(part, TextPart):
                yield "assistant", part.content
