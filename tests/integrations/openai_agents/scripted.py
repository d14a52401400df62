"""A model of the Agents SDK that says what a script says."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Model, ModelResponse, Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
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

    async def stream_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> AsyncIterator[Any]:
        reply = self._reply(system_instructions, input)
        text = "".join(part.text for part in reply.content) if isinstance(reply, ResponseOutputMessage) else ""  # type: ignore[union-attr]
        for place, word in enumerate(text.split(" ") if text else ()):
            await asyncio.sleep(0)  # as a network does: whoever reads the stream gets its turn
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta",
                **{"delta": f" {word}" if place else word, "item_id": "m", "logprobs": []},  # type: ignore[arg-type]
                **{"content_index": 0, "output_index": 0, "sequence_number": place},
            )
        await asyncio.sleep(0)
        done = Response(
            **{"id": "r", "created_at": 0, "model": "scripted", "object": "response", "output": [reply]},  # type: ignore[arg-type]
            **{"tool_choice": "none", "tools": [], "parallel_tool_calls": False},  # type: ignore[arg-type]
        )
        yield ResponseCompletedEvent(type="response.completed", sequence_number=0, response=done)

    def _reply(self, system: str | None, given: Any) -> Output:
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        received = [_received(item) for item in items]
        step = self._script.reply([*([("system", system)] if system else []), *received], agent=self._agent)
        match step:
            case Say():
                part = ResponseOutputText(text=str(step.text), type="output_text", annotations=[])
                return ResponseOutputMessage(
                    # The same id in every message, as the host gives those of models that have none.
                    **{"id": "__fake_id__", "type": "message", "role": "assistant", "status": "completed"},  # type: ignore[arg-type]
                    content=[part],
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
            return item["role"], content if isinstance(content, str) else "".join(part["text"] for part in content)
