"""What the messages of AutoGen mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Sequence

from autogen_agentchat.base import TaskResult
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    LLMMessage,
    SystemMessage,
    UserMessage,
)

from assay.session import Placement, Session, arguments_of, question_in
from assay_integrations.autogen.agentchat.items import transfer, words

__all__ = ["asked", "asked_alone", "began", "briefed", "ended", "question", "returned", "said"]

_MEMORY = "memory"


def began(session: Session, task: Sequence[BaseChatMessage]) -> None:
    """A run begins with what the person said; messages of agents may be part of a task."""
    session.run_started()
    for message in task:
        asked(session, message)


def asked(session: Session, message: BaseChatMessage) -> None:
    """A person has said something."""
    session.user_message(words(message.to_model_message()), id=message.id)


def asked_alone(session: Session, message: UserMessage) -> None:
    """A person has said something to an agent whose run is seen from its context alone: so it begins."""
    session.run_started()
    session.user_message(words(message))


async def briefed(session: Session, messages: Sequence[LLMMessage]) -> list[LLMMessage]:
    """A model is about to be called: give what it is to receive; the context keeps what it has."""
    place, asks = question(messages, session.asked)
    text = (await session.aio.briefing(asks)).text
    if not text:
        return [*messages]
    if session.options.placement is Placement.SYSTEM:
        return [SystemMessage(content=text), *messages]
    return [*messages[:place], UserMessage(content=text, source=_MEMORY), *messages[place:]]


def question(messages: Sequence[LLMMessage], asked: str) -> tuple[int, str | None]:
    """Find the message that is to be answered, and its words: other agents speak in the user's role as well."""
    users = {place: words(one) for place, one in enumerate(messages) if isinstance(one, UserMessage)}
    return question_in(users, asked, len(messages))


def said(session: Session, message: AssistantMessage) -> None:
    """A model has answered, or has called tools, of which one may hand the conversation over."""
    if isinstance(message.content, str):
        session.agent_message(message.content)
        return
    for call in message.content:
        target = transfer(call.name)
        if target is None:
            session.tool_call(call.name, arguments_of(call.arguments), call_id=call.id or None)
        else:
            session.handoff(message.source, target)


def returned(session: Session, results: Sequence[FunctionExecutionResult]) -> None:
    """Tools have given results or have failed, of which the host keeps no more than the text."""
    for result in results:
        if transfer(result.name) is not None:
            continue
        verb = session.tool_error if result.is_error else session.tool_result
        verb(result.name, result.content, call_id=result.call_id or None)


def ended(session: Session, result: TaskResult) -> None:
    """A run is over; what the host says of tools in an agent's name is the tools' own text."""
    last = result.messages[-1] if result.messages else None
    session.run_ended(last.content if isinstance(last, TextMessage) else None)
