"""A model of the Agents SDK that says what a script says."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import ItemHelpers, Model, ModelResponse, Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseTextDeltaEvent,
)

from assay.testing import Call, HandOff, Say, Script

__all__ = ["ScriptedModel"]

Output = ResponseOutputMessage | ResponseFunctionToolCall


class ScriptedModel(Model):
    """Answers from the lane of one agent."""

    def __init__(self, script: Script, agent: str = "main") -> None:
        self._script = script
        self._agent = agent
        self._numbers = itertools.count(1)

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
        return ModelResponse(output=[self._reply(system_instructions, input)], usage=Usage(), response_id=None)

    async def stream_response(
        self, system_instructions: Any, input: Any, *rest: Any, **more: Any
    ) -> AsyncIterator[Any]:
        reply = self._reply(system_instructions, input)
        text = ItemHelpers.extract_last_content(reply)
        for place, word in enumerate(text.split(" ") if text else ()):
            await asyncio.sleep(0)  # as a network does: whoever reads the stream gets its turn
            yield ResponseTextDeltaEvent.model_validate(
                {"type": "response.output_text.delta", "delta": f" {word}" if place else word, "logprobs": []}
                | {"item_id": "m", "content_index": 0, "output_index": 0, "sequence_number": place}
            )
        await asyncio.sleep(0)
        done: dict[str, Any] = {"id": "r", "created_at": 0, "model": "scripted", "object": "response"}
        done |= {"output": [reply], "tool_choice": "none", "tools": [], "parallel_tool_calls": False}
        yield ResponseCompletedEvent(
            type="response.completed", sequence_number=0, response=Response.model_validate(done)
        )

    def _reply(self, system: str | None, given: Any) -> Output:
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        received = [_received(item) for item in items]
        step = self._script.reply([*([("system", system)] if system else []), *received], agent=self._agent)
        match step:
            case Say():
                # The same id in every message, as the host gives those of models that have none.
                part = {"text": str(step.text), "type": "output_text", "annotations": []}
                return ResponseOutputMessage.model_validate(
                    {"id": "__fake_id__", "type": "message", "role": "assistant", "status": "completed"}
                    | {"content": [part]}
                )
            case Call():
                return self._call(step.name, json.dumps(step.args), step.id)
            case HandOff():
                return self._call(f"transfer_to_{step.to}", "{}", f"handoff-{next(self._numbers)}")

    def _call(self, name: str, arguments: str, call_id: str) -> ResponseFunctionToolCall:
        return ResponseFunctionToolCall(name=name, arguments=arguments, call_id=call_id, type="function_call")


def _received(item: Any) -> tuple[str, str]:
    match item.get("type", "message"):
        case "function_call":
            return "assistant", f"{item['name']} {item['arguments']}"
        case "function_call_output":
            return "tool", str(item["output"])
        case _:
            content = item["content"]
            return item["role"], content if isinstance(content, str) else "".join(
                part.get("text", "") for part in content
            )
