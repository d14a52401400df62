"""What the messages of AG2 classic say: dicts as the chat completions of OpenAI have them, or plain texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from assay.session import arguments_of

__all__ = ["Call", "Message", "calls_of", "results_of", "words"]

Message = Mapping[str, Any]
Call = tuple[str | None, str, Any]


def words(message: Message | str) -> str:
    """Give the text of a message, in which media are named, never dumped; "" for what calls tools or answers them."""
    content: object = message if isinstance(message, str) else message.get("content")
    if isinstance(content, str):
        return content
    parts = cast("Sequence[Any]", content) if isinstance(content, list) else ()
    return "\n".join(map(_named, parts))


def calls_of(message: Message) -> list[Call]:
    """Give id, name and arguments of the tools that a message calls."""
    return [
        (call.get("id"), str(call["function"]["name"]), arguments_of(call["function"].get("arguments")))
        for call in message.get("tool_calls") or ()
    ]


def results_of(message: Message) -> list[tuple[str | None, str]]:
    """Give id and text of the results that a message holds; nothing when it is no answer of tools."""
    if message.get("role") != "tool":
        return []
    held: Sequence[Message] = message.get("tool_responses") or [message]
    return [(one.get("tool_call_id"), str(one.get("content", ""))) for one in held]


def _named(part: Any) -> str:
    if isinstance(part, str):
        return part
    return str(part["text"]) if part.get("type") == "text" else f"[{part.get('type', 'media')}]"
