"""What the messages of LangChain mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.types import Command

from assay import Briefing
from assay.session import Placement, Session
from assay_integrations.langgraph.place import asked

__all__ = ["began", "brief", "ended", "placed", "returned", "said"]


def began(session: Session, messages: Sequence[BaseMessage]) -> None:
    """A run begins: with the messages of the person that nobody has answered yet.

    The newest of them names the run, so that an agent which takes over from another one goes on with its run.
    """
    newest = asked(messages)
    session.run_started(id=newest.id if newest else None)
    fresh = list(takewhile(lambda message: isinstance(message, HumanMessage), reversed(messages)))
    for message in reversed(fresh):
        session.user_message(message.text, id=message.id)


def brief(session: Session, messages: Sequence[BaseMessage]) -> Briefing:
    """Give what memory holds for the person's newest message."""
    newest = asked(messages)
    return session.briefing(session.asked or (newest.text if newest else ""))


def placed(
    briefing: Briefing, messages: Sequence[AnyMessage], system: SystemMessage | None, session: Session
) -> tuple[list[AnyMessage], SystemMessage | None]:
    """Put a briefing before the person's newest message, or after the system text; a new list, never the state's."""
    if session.options.placement is Placement.SYSTEM:
        text = f"{system.text}\n\n{briefing.text}" if system else briefing.text
        return list(messages), SystemMessage(text)
    humans = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    theirs = [place for place in humans if messages[place].text == session.asked]
    place = (theirs or humans or [len(messages)])[-1]
    return [*messages[:place], HumanMessage(briefing.text), *messages[place:]], system


def said(session: Session, messages: Sequence[BaseMessage]) -> None:
    """The model has answered."""
    for message in messages:
        if isinstance(message, AIMessage) and message.text:
            session.agent_message(message.text, id=message.id)


def returned(session: Session, name: str, call_id: str | None, result: ToolMessage | Command[Any]) -> None:
    """A tool has given a message, or a command that may hold one and may send the run to another agent."""
    for message in [result] if isinstance(result, ToolMessage) else _messages(result):
        if message.tool_call_id == call_id:
            text = message.text or message.content
            if message.status == "error":
                session.tool_error(name, str(text), call_id=call_id)
            else:
                session.tool_result(name, text, call_id=call_id)
    if isinstance(result, Command) and isinstance(result.goto, str) and result.goto:
        session.handoff(session.key.agent or "agent", result.goto, id=call_id)


def ended(session: Session, state: Mapping[str, Any]) -> None:
    """The run is over: with a structured response, or with what the agent said last."""
    output: object = state.get("structured_response")
    if output is None:
        newest = next((message for message in reversed(state["messages"]) if isinstance(message, AIMessage)), None)
        output = newest.text if newest else None
    session.run_ended(output)


def _messages(command: Command[Any]) -> list[ToolMessage]:
    update: object = command.update
    found = update.get("messages", []) if isinstance(update, Mapping) else []
    return [message for message in found if isinstance(message, ToolMessage)]
