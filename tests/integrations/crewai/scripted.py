"""A model of CrewAI that says what a script says."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

from crewai import BaseLLM
from crewai.events.types.llm_events import LLMCallType
from crewai.llms.base_llm import llm_call_context

from assay.testing import Call, HandOff, Say, Script

__all__ = ["HANDED_OVER", "ScriptedModel"]

HANDED_OVER = "Let the other one answer."
# What the host writes around the description of a task.
_TASK = re.compile(r"\s*Current Task: (.*?)(?:\n\nThis is the expected criteria .*)?\Z", re.DOTALL)


class ScriptedModel(BaseLLM):
    """Answers from the lane of one agent, and tells the bus of it as the host's own models do.

    Attributes:
        received: The prompts to the letter; the script's log has the tasks without what the host writes around them.
    """

    script: Any
    agent: str = "main"
    calls_tools: bool = True
    received: list[str] = []  # noqa: RUF012  # each model gets its own

    def supports_function_calling(self) -> bool:
        return self.calls_tools

    def call(
        self,
        messages: Any,
        tools: Any = None,
        callbacks: Any = None,
        available_functions: Any = None,
        from_task: Any = None,
        from_agent: Any = None,
        response_model: Any = None,
    ) -> Any:
        with llm_call_context():
            self._emit_call_started_event(messages, tools, callbacks, available_functions, from_task, from_agent)
            try:
                reply = self._reply(messages)
            except BaseException as error:
                self._emit_call_failed_event(str(error), from_task, from_agent)
                raise
            for place, word in enumerate(reply.split(" ") if self.stream and isinstance(reply, str) else ()):
                self._emit_stream_chunk_event(f" {word}" if place else word, from_task, from_agent)
            self._emit_call_completed_event(reply, LLMCallType.LLM_CALL, from_task, from_agent, messages)
        return reply

    async def acall(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        await asyncio.sleep(0)
        return self.call(messages, *arguments, **more)

    def _reply(self, messages: Sequence[dict[str, Any]]) -> Any:
        script: Script = self.script
        self.received.append("\n".join(str(one.get("content")) for one in messages))
        step = script.reply([(str(one["role"]), _text(one.get("content"))) for one in messages], agent=self.agent)
        match step:
            case Say():
                return str(step.text)
            case Call() if self.calls_tools:
                function = {"name": step.name, "arguments": json.dumps(dict(step.args))}
                return [{"id": step.id, "type": "function", "function": function}]
            case Call():
                return f"Thought: I need it\nAction: {step.name}\nAction Input: {json.dumps(dict(step.args))}"
            case HandOff():
                return HANDED_OVER


def _text(content: Any) -> str:
    text = str(content or "")
    around = _TASK.match(text)
    return around[1] if around else text
