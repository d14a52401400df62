"""What the messages of AG2 classic mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.session import Placement, Session, question_in
from assay_integrations.autogen.ag2_classic.items import Call, words

__all__ = ["asked", "briefed", "called", "returned"]

# How the host begins what the code that an agent wrote has printed, in the words of whoever ran it.
_RAN_CODE = "exitcode: "
_CODE = "code_execution"


def asked(session: Session, text: str, *, begins: bool) -> None:
    """A person has said something, which begins a run where nothing else does; or code has run in their name."""
    if text.startswith(_RAN_CODE):
        session.tool_result(_CODE, text, call_id=None)
    elif text.strip():
        if begins:
            session.run_started()
        session.user_message(text)


def briefed(session: Session, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A model is about to be called: give what it is to receive; the history keeps what it has."""
    users = {place: words(one) for place, one in enumerate(messages) if one.get("role") == "user" and words(one)}
    place, asks = question_in(users, session.asked, len(messages))
    text = session.briefing(asks).text
    if not text:
        return [*messages]
    system = session.options.placement is Placement.SYSTEM
    ours = {"role": "system" if system else "user", "content": text}
    place = 0 if system else place
    return [*messages[:place], ours, *messages[place:]]


def called(session: Session, calls: Sequence[Call]) -> None:
    """A model has called tools."""
    for call_id, name, given in calls:
        session.tool_call(name, given, call_id=call_id)


def returned(session: Session, results: Sequence[tuple[str | None, str]], calls: Sequence[Call]) -> None:
    """Tools have answered, in the order in which they were called; an error is a text like any other here."""
    names = {call_id: name for call_id, name, _ in calls if call_id is not None}
    for place, (call_id, text) in enumerate(results):
        by_place = calls[place][1] if place < len(calls) else "tool"
        session.tool_result(names.get(call_id or "", by_place), text, call_id=call_id)
