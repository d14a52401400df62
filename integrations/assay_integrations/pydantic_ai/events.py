"""What the messages of Pydantic AI mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic_core import to_jsonable_python

from assay.session import Placement, Session
from assay_integrations.pydantic_ai.place import Caller
from pydantic_ai.exceptions import SkipToolExecution, ToolRetryError
from pydantic_ai.messages import (
    CachePoint,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextContent,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
    is_multi_modal_content,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import DeferredToolRequests, RunContext

__all__ = [
    "answered",
    "began",
    "briefed",
    "called",
    "ended",
    "is_answered",
    "returned",
    "said",
    "speaks",
]

# A run has one prompt: its id within the run.
_PROMPT = "prompt"


def began(session: Session, ctx: RunContext[Any], caller: Caller | None) -> None:
    """A run begins, with what the person said: the prompt, or the end of a history that was handed over with none."""
    session.run_started()
    if caller is not None and caller.hands_over:
        session.handoff(caller.name, session.key.agent or "agent", id=ctx.run_id)
    if ctx.prompt is not None:
        session.user_message(_words(ctx.prompt), id=_PROMPT)
    elif ctx.messages and _is_the_persons(ctx.messages[-1]):
        session.user_message("\n".join(_prompts(ctx.messages[-1])), id=_PROMPT)


async def briefed(session: Session, request: ModelRequestContext) -> ModelRequestContext:
    """A model is about to be called: give the request as it is to receive it; the run's own messages stay."""
    place = _question(session, request.messages)
    text = (await session.aio.briefing("\n".join(_prompts(request.messages[place])))).text
    if not text:
        return request
    if session.options.placement is Placement.DATA:
        messages = [*request.messages]
        messages[place] = _with_block(messages[place], text)
        return replace(request, messages=messages)
    parameters = request.model_request_parameters
    parts = [*(parameters.instruction_parts or ()), InstructionPart(content=text, dynamic=True)]
    return replace(request, model_request_parameters=replace(parameters, instruction_parts=parts))


def speaks(response: ModelResponse) -> bool:
    """Tell whether a model has said something, or called tools that its provider runs."""
    return bool(response.text) or any(isinstance(part, NativeToolCallPart) for part in response.parts)


def said(session: Session, response: ModelResponse) -> None:
    """A model has answered, and may have called tools that its provider runs."""
    for part in response.parts:
        if isinstance(part, NativeToolCallPart):
            session.tool_call(part.tool_name, part.args_as_dict(), call_id=part.tool_call_id)
        elif isinstance(part, NativeToolReturnPart):
            session.tool_result(part.tool_name, _plain(part.content), call_id=part.tool_call_id)
    if response.text:
        session.agent_message(response.text)


def called(session: Session, call: ToolCallPart) -> None:
    """A tool is about to be run."""
    session.tool_call(call.tool_name, call.args_as_dict(), call_id=call.tool_call_id)


def returned(session: Session, call: ToolCallPart, result: object) -> None:
    """A tool has given a result, was skipped for one, or has asked the model to try again, which is no failure."""
    if isinstance(result, SkipToolExecution):
        result = result.result
    if isinstance(result, ToolReturn):
        result = result.return_value
    value = str(result) if isinstance(result, ToolRetryError) else _plain(result)
    session.tool_result(call.tool_name, value, call_id=call.tool_call_id)


def is_answered(messages: Sequence[ModelMessage]) -> bool:
    """Tell whether a run goes on with what was done for it elsewhere."""
    return any(isinstance(part, ToolReturnPart) for part in messages[-1].parts)


def answered(session: Session, messages: Sequence[ModelMessage]) -> None:
    """Tools have ended that never ran here, so that no hook has seen them."""
    newest = messages[-1]
    calls = {call.tool_call_id: call for one in messages if isinstance(one, ModelResponse) for call in one.tool_calls}
    for part in newest.parts if isinstance(newest, ModelRequest) else ():
        if isinstance(part, ToolReturnPart) and part.tool_call_id in calls:
            called(session, calls[part.tool_call_id])
            returned(session, calls[part.tool_call_id], part.content)


def ended(session: Session, output: object) -> None:
    """A run is over, unless it waits for calls that were deferred: then the next one goes on with it."""
    if not isinstance(output, DeferredToolRequests):
        session.run_ended(output if output is None else _plain(output))


def _question(session: Session, messages: Sequence[ModelMessage]) -> int:
    """Find the message that the run answers; tools and other capabilities may have put user parts behind it."""
    said = {place: texts for place, message in enumerate(messages) if (texts := _prompts(message))}
    asked = session.asked
    recorded = [place for place, texts in said.items() if asked in (*texts, "\n".join(texts))]
    humans = [place for place in said if _is_the_persons(messages[place])]
    return (recorded or humans or [0])[-1]


def _is_the_persons(message: ModelMessage) -> bool:
    """Tell whether the person speaks in a message: a user part beside the result of a tool is usually the tool's."""
    return bool(_prompts(message)) and not any(isinstance(part, ToolReturnPart) for part in message.parts)


def _prompts(message: ModelMessage) -> list[str]:
    return [_words(part.content) for part in message.parts if isinstance(part, UserPromptPart)]


def _with_block(message: ModelMessage, text: str) -> ModelMessage:
    """Put the block, as a user part of its own, before the first one of a message."""
    if not isinstance(message, ModelRequest):
        return message
    parts = [*message.parts]
    prompts = [place for place, part in enumerate(parts) if isinstance(part, UserPromptPart)]
    parts.insert((prompts or [len(parts)])[0], UserPromptPart(text))
    return replace(message, parts=parts)


def _words(content: str | Sequence[object]) -> str:
    """Give the text of a prompt in which media are named, never dumped."""
    items: Sequence[object] = [content] if isinstance(content, str) else content
    return "\n".join(_named(item) for item in items if not isinstance(item, CachePoint))


def _named(item: object) -> str:
    if is_multi_modal_content(item):
        return f"[{item.kind} {item.identifier}]"
    return item.content if isinstance(item, TextContent) else str(item)


def _plain(value: Any) -> Any:
    """Give a result as text or JSON, with its media named."""
    if isinstance(value, str):
        return value
    items: Sequence[object] = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [value]
    return _words(items) if any(map(is_multi_modal_content, items)) else to_jsonable_python(value, fallback=str)
