"""A chat model of LangChain that says what a script says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from assay.testing import Call, HandOff, Say, Script

__all__ = ["ScriptedModel"]

_ROLES = {"human": "user", "ai": "assistant"}


class ScriptedModel(BaseChatModel):
    """Answers from the lane of one agent."""

    script: Any
    agent: str = "main"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages)
        calls = [
            tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=0)
            for call in reply.tool_calls
        ]
        if calls:
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))
        for place, word in enumerate(reply.text.split(" ") if reply.text else ()):
            piece = ChatGenerationChunk(message=AIMessageChunk(content=f" {word}" if place else word))
            if run_manager:
                run_manager.on_llm_new_token(piece.text, chunk=piece)
            yield piece

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        script: Script = self.script
        step = script.reply([(_ROLES.get(m.type, m.type), str(m.text)) for m in messages], agent=self.agent)
        match step:
            case Say():
                return AIMessage(str(step.text))
            case Call():
                return AIMessage("", tool_calls=[tool_call(name=step.name, args=dict(step.args), id=step.id)])
            case HandOff():
                return AIMessage("", tool_calls=[tool_call(name=f"transfer_to_{step.to}", args={}, id="handoff")])
