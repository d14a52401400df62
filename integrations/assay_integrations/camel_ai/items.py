"""What the records of CAMEL say: who speaks in them, the words, the calls of tools, and how a tool failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from camel.memories import ContextRecord, MemoryRecord
from camel.messages import BaseMessage, FunctionCallingMessage
from camel.types import OpenAIBackendRole

from assay.session import arguments_of

__all__ = ["as_system", "before", "calls", "failure", "is_answer", "is_question", "of_block", "plain", "words"]

_HOST_ASKS = ("Please continue.", "Based on the previous CONTEXT_SUMMARY, continue with my current message: ")
_HOST_SHOWS = "Tool"  # the role name under which pictures of a tool are shown to the model
_SUMMARY = "[CONTEXT_SUMMARY]"
_JSON = (str, int, float, bool, dict, list, type(None))
_SYSTEM = (OpenAIBackendRole.SYSTEM, OpenAIBackendRole.DEVELOPER)


def is_question(record: MemoryRecord) -> bool:
    """Tell whether a record is what the agent is asked; in the user's role the host writes words of its own as well."""
    message = record.message
    hosts_own = message.role_name == _HOST_SHOWS or message.content.startswith(_HOST_ASKS)
    return record.role_at_backend is OpenAIBackendRole.USER and not hosts_own


def is_answer(record: MemoryRecord) -> bool:
    """Tell whether a record is the agent's last word in a step."""
    message = record.message
    said = record.role_at_backend is OpenAIBackendRole.ASSISTANT and not isinstance(message, FunctionCallingMessage)
    return said and not _calls(message) and bool(words(message))


def words(message: BaseMessage | str) -> str:
    """Give the words of a message: none for a summary of the host's, and with media counted, never dumped."""
    if isinstance(message, str):
        return message
    text = "" if message.content.startswith(_SUMMARY) else message.content
    pictures, film = len(message.image_list or ()), message.video_bytes is not None
    media = ["[image]"] * pictures + ["[video]"] * film
    return "\n".join(part for part in (text, *media) if part)


def calls(message: BaseMessage) -> Iterator[tuple[str, object, str | None]]:
    """Give name, arguments and id of each call of a tool that a message asks for."""
    for call in _calls(message):
        function = call["function"]
        yield function["name"], arguments_of(function["arguments"]), call.get("id")


def failure(name: str, result: object) -> str | None:
    """Give why a tool failed, or None; the host turns an error into a text, which is all that tells it."""
    given: Any = result
    text = given["error"] if isinstance(result, dict) and [*given] == ["error"] else given
    if not isinstance(text, str):
        return None
    text = text.removeprefix("Tool execution failed: ")
    for opening in (f"Error executing tool '{name}': ", f"Error executing async tool '{name}': "):
        if text.startswith(opening):
            return text.removeprefix(opening)
    return text if text == f"Tool '{name}' not found in registered tools" else None


def plain(result: object) -> object:
    """Give a result as JSON has it, or as the host shows it to the model."""
    return result if type(result) in _JSON else str(result)


def of_block(text: str, *, role: OpenAIBackendRole = OpenAIBackendRole.USER, at: float = 0.0) -> ContextRecord:
    """Make a record of a briefing, which is never written into the host's memory."""
    message = BaseMessage.make_user_message("memory", text)
    record = MemoryRecord(message=message, role_at_backend=role, timestamp=at)
    return ContextRecord(memory_record=record, score=1.0, timestamp=at)


def before(records: Sequence[ContextRecord], question: UUID | None, text: str) -> list[ContextRecord]:
    """Put a briefing before the question; the host sorts by time, and keeps the order of what has the same time."""
    asked = [place for place, one in enumerate(records) if one.memory_record.role_at_backend is OpenAIBackendRole.USER]
    known = [place for place in asked if records[place].memory_record.uuid == question]
    place = (known or asked or [len(records)])[-1]
    at = records[place].timestamp if place < len(records) else 0.0
    return [*records[:place], of_block(text, at=at), *records[place:]]


def as_system(records: Sequence[ContextRecord], text: str) -> list[ContextRecord]:
    """Put a briefing behind the system text."""
    if not records or records[0].memory_record.role_at_backend not in _SYSTEM:
        return [of_block(text, role=OpenAIBackendRole.SYSTEM), *records]
    first = records[0].memory_record
    message = first.message.create_new_instance(f"{first.message.content}\n\n{text}")
    briefed = first.model_copy(update={"message": message})
    return [records[0].model_copy(update={"memory_record": briefed}), *records[1:]]


def _calls(message: BaseMessage) -> Sequence[Mapping[str, Any]]:
    meta = cast("Mapping[str, Any]", message.meta_dict or {})
    return meta.get("tool_calls") or ()
