"""What the messages of LangChain mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from assay.session import Placement, Session, field_of, question_in
from assay_integrations.langgraph.place import asked
from langgraph.constants import END
from langgraph.types import Command

__all__ = ["began", "briefed", "ended", "question", "returned", "said", "speaks", "with_briefing"]


def began(session: Session, messages: Sequence[BaseMessage]) -> None:
    """A run begins with the newest message of the person.

    That message names the run, so that an agent which takes over from another one goes on with its run. Earlier ones
    without an answer are of runs that failed or were abandoned, and were recorded by them.
    """
    newest = asked(messages)
    session.run_started(id=newest.id if newest else None)
    if newest is not None:
        session.user_message(newest.text, id=newest.id)


def question(session: Session, messages: Sequence[BaseMessage]) -> tuple[int, str | None]:
    """Find the message that the run answers; other middlewares may have put human messages behind it."""
    humans = {place: one.text for place, one in enumerate(messages) if isinstance(one, HumanMessage)}
    return question_in(humans, session.asked, len(messages))


def briefed(session: Session, request: ModelRequest[Any], place: int, text: str) -> ModelRequest[Any]:
    """A model is about to be called: give the request as it is to receive it."""
    if not text:
        return request
    if session.options.placement is Placement.DATA:
        return request.override(messages=with_briefing(request.messages, place, text))
    before = request.system_message.content if request.system_message else ""
    if isinstance(before, str):
        return request.override(system_message=SystemMessage(f"{before}\n\n{text}".strip()))
    # Blocks may carry marks of the provider's cache, which a joined text would lose.
    block: dict[Any, Any] = {"type": "text", "text": text}
    return request.override(system_message=SystemMessage([*before, block]))


def with_briefing(messages: Sequence[AnyMessage], place: int, text: str) -> list[AnyMessage]:
    """Put what memory holds before the question it was asked for, in a list of its own."""
    return [*messages[:place], HumanMessage(text), *messages[place:]] if text else [*messages]


def speaks(messages: Sequence[BaseMessage]) -> bool:
    """Tell whether a model has said something, besides calling tools."""
    return any(isinstance(message, AIMessage) and message.text for message in messages)


def said(session: Session, messages: Sequence[BaseMessage]) -> None:
    """A model has answered."""
    for message in messages:
        if isinstance(message, AIMessage) and message.text:
            session.agent_message(message.text, id=message.id, agent=message.name)


def returned(session: Session, name: str, call_id: str | None, result: ToolMessage | Command[Any]) -> None:
    """A tool has given a message, or a command that may hold one and may send the run to another agent."""
    for message in [result] if isinstance(result, ToolMessage) else _messages(result):
        if message.tool_call_id == call_id:
            content = message.text or message.content
            if message.status == "error":
                session.tool_error(name, str(content), call_id=call_id)
            else:
                session.tool_result(name, content, call_id=call_id)
    target: object = field_of(result, "goto") if field_of(result, "graph") == Command.PARENT else None
    if isinstance(target, str) and target not in ("", END):
        session.handoff(session.key.agent or "agent", target, id=call_id)


def ended(session: Session, state: Mapping[str, Any]) -> None:
    """A run is over: with a structured response, or with what the agent said last."""
    output: object = state.get("structured_response")
    if output is None:
        newest = next((message for message in reversed(state["messages"]) if isinstance(message, AIMessage)), None)
        output = newest and newest.text
    session.run_ended(output)


def _messages(command: Command[Any]) -> list[ToolMessage]:
    found: Sequence[object] = field_of(command.update, "messages") or ()
    return [message for message in found if isinstance(message, ToolMessage)]
