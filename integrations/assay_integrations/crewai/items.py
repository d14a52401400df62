"""What stands in the messages and events of CrewAI: the question, our own block, what was said, and an error."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from assay.session import Placement
from crewai.agents.parser import AgentFinish, OutputParserError, parse
from crewai.events import ToolUsageErrorEvent, ToolUsageFinishedEvent, ToolUsageStartedEvent, crewai_event_bus
from crewai.events.event_context import get_last_event_id
from crewai.hooks import LLMCallHookContext
from crewai.utilities.string_utils import sanitize_tool_name

__all__ = ["error_of", "place", "spoken", "take_out", "words"]

Messages = list[Any]
_INPUT = "{input}"


def words(context: LLMCallHookContext) -> str:
    """Give what an agent that was kicked off alone is asked, without what the host's template puts around it."""
    text = next((_text(message) for message in reversed(context.messages) if _role(message) == "user"), "")
    prompt = getattr(context.executor, "prompt", None)
    before, found, after = str(getattr(prompt, "user", "") or getattr(prompt, "prompt", "")).partition(_INPUT)
    return text.removeprefix(before).removesuffix(after) if found else text


def place(messages: Messages, block: str, question: str, placement: Placement) -> None:
    """Put a block into messages, in place: before the newest one that holds the question, or behind the system text."""
    if placement is Placement.SYSTEM and messages and _role(messages[0]) == "system":
        messages[0] = {**messages[0], "content": _text(messages[0]) + _behind(block)}
        return
    users = [number for number, message in enumerate(messages) if _role(message) == "user"]
    asking = [number for number in users if question in _text(messages[number])]
    number = (asking or users or [len(messages)])[-1]
    messages.insert(number, {"role": "user", "content": block})


def take_out(messages: Messages, blocks: Collection[str]) -> None:
    """Take blocks that were placed out of messages again, in place: the host hands the same list to every call."""
    messages[:] = [message for message in messages if not (_role(message) == "user" and _text(message) in blocks)]
    if messages and _role(messages[0]) == "system":
        text = _text(messages[0])
        for block in tuple(blocks):  # tasks that run at once add to them
            if text.endswith(_behind(block)):
                messages[0] = {**messages[0], "content": text.removesuffix(_behind(block))}


def spoken(response: str | None) -> str:
    """Give what an agent says in a response, without its thoughts; "" when it only asks for a tool in words."""
    text = response or ""
    try:
        parsed = parse(text)
    except OutputParserError:
        return text
    return str(parsed.output) if isinstance(parsed, AgentFinish) else ""


def error_of(tool: str) -> Exception | str | None:
    """Give the error that the newest call of a tool raised in this context, or None.

    A hook is only told the host's apology. The error itself is an event, and handlers of the bus run in threads of
    their own, too late to tell a result from an apology; but every event of a run is kept as it is emitted.
    """
    state, event_id = crewai_event_bus.runtime_state, get_last_event_id()
    while state is not None and event_id is not None:
        node = state.event_record.get(event_id)
        event = node.event if node is not None else None
        if isinstance(event, (ToolUsageErrorEvent, ToolUsageFinishedEvent, ToolUsageStartedEvent)) and (
            sanitize_tool_name(event.tool_name) == sanitize_tool_name(tool)
        ):
            return _error(event.error) if isinstance(event, ToolUsageErrorEvent) else None
        event_id = event.previous_event_id if event is not None else None
    return None


def _error(error: object) -> Exception | str:
    return error if isinstance(error, Exception) else str(error)


def _behind(block: str) -> str:
    return f"\n\n{block}"


def _role(message: Any) -> str:
    return str(message.get("role", ""))


def _text(message: Any) -> str:
    content: object = message.get("content")
    if not isinstance(content, list):
        return "" if content is None else str(content)
    parts = cast("list[object]", content)
    texts = [cast("dict[str, object]", part).get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
