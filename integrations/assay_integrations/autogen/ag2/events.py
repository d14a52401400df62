"""What the events of AG2 mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ag2.annotations import Context
from ag2.events import (
    BaseEvent,
    ModelRequest,
    ModelResponse,
    ToolCallEvent,
    ToolErrorEvent,
    ToolResultEvent,
    ToolResultsEvent,
)

from assay.session import Placement, Session, arguments_of, question_in
from assay_integrations.autogen.ag2.items import value, words

__all__ = ["began", "briefed", "ended", "used"]

Given = tuple[Sequence[BaseEvent], Context]


def began(session: Session, event: BaseEvent) -> None:
    """A turn begins with what the person said, or goes on with the results of tools that ran elsewhere."""
    if isinstance(event, ModelRequest):
        session.run_started()
        session.user_message(words(event))
    elif isinstance(event, ToolResultsEvent):
        for result in event.results:
            used(session, result)


async def briefed(session: Session, events: Sequence[BaseEvent], context: Context) -> Given:
    """A model is about to be called: give what it is to receive; the history of the stream stays as it is."""
    texts = {place: words(event) for place, event in enumerate(events) if isinstance(event, ModelRequest)}
    place, asks = question_in(texts, session.asked, len(events))
    text = (await session.aio.briefing(asks)).text
    if not text or text in texts.values():
        return events, context
    if session.options.placement is Placement.DATA:
        return [*events[:place], ModelRequest.ensure_request([text]), *events[place:]], context
    return events, replace(context, prompt=[*context.prompt, text])


def used(session: Session, event: BaseEvent) -> None:
    """A tool is about to be run, or has ended, here or at the provider; one left to the caller of the agent has not."""
    if isinstance(event, ToolCallEvent):
        session.tool_call(event.name, arguments_of(event.arguments), call_id=event.id)
    elif isinstance(event, ToolErrorEvent):
        session.tool_error(event.name or "tool", event.error, call_id=event.parent_id)
    elif isinstance(event, ToolResultEvent):
        session.tool_result(event.name or "tool", value(event.result), call_id=event.parent_id)


def ended(session: Session, response: ModelResponse) -> bool:
    """A turn is over, unless the caller of the agent is to run tools and to resume it.

    Returns:
        Whether it is over.
    """
    if response.tool_calls.calls and response.response_force:
        return False
    session.run_ended(response.content)
    return True
