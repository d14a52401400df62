"""What the events of ADK mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Sequence

from google.adk.agents import InvocationContext
from google.adk.events import Event, EventActions
from google.adk.models.llm_request import LlmRequest
from google.genai.types import Content, Part

from assay.session import Placement, Session, question_in
from assay_integrations.google_adk.items import value, words

__all__ = ["began", "briefed", "called", "ended", "failed", "of_run", "retold", "returned", "said"]

_PERSON = "user"
# Tools of the host's own: who takes over is a hand-off, a password that a person enters is nobody's memory, and what
# is read from a memory was recorded when it was said.
_HOSTS_OWN = {"transfer_to_agent", "adk_request_confirmation", "adk_request_credential", "load_memory"}


def began(session: Session, invocation: InvocationContext) -> None:
    """A run begins or goes on: with what the person said, or with their answer to a tool that was waiting for it."""
    session.run_started(id=invocation.invocation_id)
    newest = next((event for event in reversed(of_run(invocation)) if event.author == _PERSON), None)
    if newest is not None:
        asked(session, newest)


def asked(session: Session, event: Event) -> None:
    """A person has said something, or has given the result of a tool."""
    if text := words(event.content):
        session.user_message(text, id=event.id)
    for answer in event.get_function_responses():
        returned(session, answer.name or "", answer.response, answer.id)


async def briefed(session: Session, request: LlmRequest) -> None:
    """A model is about to be called: give the request what it is to receive; the host keeps none of it."""
    contents = request.contents
    # Results of tools and words of other agents have the user's role too.
    users = {place: text for place, one in enumerate(contents) if one.role == "user" and (text := words(one))}
    place, asks = question_in(users, session.asked, len(contents))
    text = (await session.aio.briefing(asks)).text
    if not text:
        return
    if session.options.placement is Placement.DATA:
        block = Content(role="user", parts=[Part(text=text)])
        request.contents = [*request.contents[:place], block, *request.contents[place:]]
    else:
        request.append_instructions([text])


def said(session: Session, event: Event) -> None:
    """An agent has said something."""
    if text := words(event.content):
        session.agent_message(text, id=event.id)


def called(session: Session, name: str, arguments: object, call_id: str | None) -> None:
    """A tool is about to be run."""
    if name not in _HOSTS_OWN:
        session.tool_call(name, arguments, call_id=call_id)


def returned(
    session: Session,
    name: str,
    result: object,
    call_id: str | None,
    actions: EventActions | None = None,
) -> None:
    """A tool has given a result, unless it waits for a person; and it may have handed the run to another agent."""
    waits = actions is not None and call_id in (*actions.requested_tool_confirmations, *actions.requested_auth_configs)
    if not waits and name not in _HOSTS_OWN:
        session.tool_result(name, value(result), call_id=call_id)
    if actions is not None and actions.transfer_to_agent:
        session.handoff(session.key.agent or "agent", actions.transfer_to_agent, id=call_id)


def failed(session: Session, name: str, error: BaseException, call_id: str | None) -> None:
    """A tool has failed."""
    if name not in _HOSTS_OWN:
        session.tool_error(name, error, call_id=call_id)


def ended(session: Session, happened: Sequence[Event]) -> bool:
    """A run is over, if an agent has had its last word in it.

    A caller who stops reading, and a tool that waits for a person, leave it open: the host closes both like an end.

    Returns:
        Whether it is over.
    """
    last = next((event for event in reversed(happened) if event.author != _PERSON), None)
    if last is None or last.error_code or last.long_running_tool_ids or not last.is_final_response():
        return False
    session.run_ended(words(last.content) or last.output)
    return True


def retold(session: Session, happened: Sequence[Event]) -> None:
    """The host hands over what happened in a run; with the ids that the events had when they happened."""
    for event in happened:
        if event.author == _PERSON:
            asked(session, event)
        elif not event.partial:
            _retold(session.named(event.author), event)
    ended(session, happened)


def of_run(invocation: InvocationContext) -> list[Event]:
    """Give the events of a run that the host's session holds."""
    return [event for event in invocation.session.events if event.invocation_id == invocation.invocation_id]


def _retold(session: Session, event: Event) -> None:
    said(session, event)
    for call in event.get_function_calls():
        called(session, call.name or "", call.args or {}, call.id)
    for answer in event.get_function_responses():
        returned(session, answer.name or "", answer.response, answer.id, event.actions)
