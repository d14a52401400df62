"""What the contents of ADK say: the words in them, and the value of a tool's response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from google.adk.events import Event
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

__all__ = ["answers", "calls", "value", "words"]


def words(content: Content | None) -> str:
    """Give the text of a content: without the model's thoughts, and with media named, never dumped."""
    parts = (content.parts if content else None) or ()
    return "\n".join(text for text in map(_named, parts) if text)


def value(response: object) -> object:
    """Give what a tool returned: what is no dict, the host wraps into one of its own."""
    if isinstance(response, dict) and (fields := cast("dict[str, object]", response)).keys() == {"result"}:
        return fields["result"]
    return response


def calls(event: Event) -> Iterator[FunctionCall]:
    """Give the calls of tools that an event holds."""
    return (part.function_call for part in _parts(event) if part.function_call)


def answers(event: Event) -> Iterator[FunctionResponse]:
    """Give the responses of tools that an event holds."""
    return (part.function_response for part in _parts(event) if part.function_response)


def _parts(event: Event) -> list[Part]:
    return (event.content.parts if event.content else None) or []


def _named(part: Part) -> str:
    if part.thought:
        return ""
    blob, file = part.inline_data, part.file_data
    if blob is not None:
        return f"[{blob.mime_type or 'data'} {blob.display_name or ''}".rstrip() + "]"
    return f"[{file.mime_type or 'file'} {file.file_uri or ''}".rstrip() + "]" if file is not None else part.text or ""
