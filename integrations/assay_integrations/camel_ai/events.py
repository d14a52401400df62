"""What a step of CAMEL means to a memory: each function tells a session what has happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from camel.memories import MemoryRecord
from camel.messages import FunctionCallingMessage
from camel.responses import ChatAgentResponse
from camel.types import OpenAIBackendRole

from assay.session import Session, guard
from assay_integrations.camel_ai import items

__all__ = ["answered", "asked", "began", "ended", "heard"]


def asked(session: Session, text: str) -> None:
    """A run begins, with what the person says."""
    session.run_started()
    session.user_message(text)


def began(session: Session, text: str) -> str:
    """A step begins: give the block that its calls of a model receive."""
    with guard(session, "run_started"):
        asked(session, text)
    return guard.value(session, lambda: session.briefing().text, "")


def heard(session: Session, record: MemoryRecord) -> None:
    """The memory of the host was given a record, by the agent or by one of its tools."""
    message = record.message
    if isinstance(message, FunctionCallingMessage):
        _returned(session, message)
    elif record.role_at_backend is OpenAIBackendRole.ASSISTANT:
        if text := items.words(message):
            session.agent_message(text, id=str(record.uuid))
        for name, arguments, call_id in items.calls(message):
            session.tool_call(name, arguments, call_id=call_id)


def ended(session: Session) -> None:
    """A step is over whose agent is not known: a composer of the policy's own may consolidate."""
    session.run_ended(None)
    model = session.options.wrap.model
    if model is not None and session.root:
        session.wrap(cast("Callable[[str], str]", model))


def answered(session: Session, response: ChatAgentResponse | None, *, heard: bool) -> bool:
    """A step has returned: with its answer, with an error that a stream shows, or to wait for a tool of the caller's.

    Args:
        heard: Whether the answer is in the records; else the response holds all of it.

    Returns:
        Whether the run is over, so that it may be time to consolidate.
    """
    info = {} if response is None else response.info
    if error := info.get("error"):
        session.run_failed(RuntimeError(error))
    if response is None or error or info.get("external_tool_call_requests") or len(response.msgs) != 1:
        return False
    session.run_ended(None if heard else response.msgs[0].content)
    return session.root


def _returned(session: Session, message: FunctionCallingMessage) -> None:
    name, call_id = message.func_name or "tool", message.tool_call_id
    failure = items.failure(name, message.result)
    if failure is None:
        session.tool_result(name, items.plain(message.result), call_id=call_id)
    else:
        session.tool_error(name, failure, call_id=call_id)
