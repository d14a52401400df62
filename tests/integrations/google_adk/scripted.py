"""A model of ADK that says what a script says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai.types import Content, FunctionCall, Part

from assay.testing import Call, HandOff, Say, Script

__all__ = ["ScriptedModel", "received"]


class ScriptedModel(BaseLlm):
    """Answers from the lane of one agent.

    Attributes:
        stalls: After the first piece of a stream it waits for its caller, who never comes back.
    """

    model: str = "scripted"
    script: Any
    agent: str = "main"
    stalls: bool = False

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        content = self._reply(llm_request)
        text = content.parts[0].text if content.parts else None
        if stream and text:
            for place, word in enumerate(text.split(" ")):
                piece = Part(text=f" {word}" if place else word)
                yield LlmResponse(content=Content(role="model", parts=[piece]), partial=True)
                if self.stalls:
                    await asyncio.Event().wait()
        yield LlmResponse(content=content, partial=False if stream else None)

    def _reply(self, request: LlmRequest) -> Content:
        script: Script = self.script
        step = script.reply(received(request), agent=self.agent)
        match step:
            case Say():
                part = Part(text=str(step.text))
            case Call():
                part = Part(function_call=FunctionCall(name=step.name, args=dict(step.args), id=step.id))
            case HandOff():
                called = FunctionCall(name="transfer_to_agent", args={"agent_name": step.to}, id="handoff")
                part = Part(function_call=called)
        return Content(role="model", parts=[part])


def received(request: LlmRequest) -> Iterator[tuple[str, str]]:
    """Give what a model receives, message by message."""
    if request.config.system_instruction:
        yield "system", str(request.config.system_instruction)
    for content in request.contents:
        for part in content.parts or ():
            if part.function_response is not None:
                yield "tool", str(part.function_response.response)
            elif part.function_call is not None:
                yield "assistant", f"{part.function_call.name} {part.function_call.args}"
            else:
                yield "user" if content.role == "user" else "assistant", part.text or ""
