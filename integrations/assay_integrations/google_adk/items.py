"""What the contents of ADK say: the words in them, and the value of a tool's response."""

from __future__ import annotations

from typing import Any

from google.genai.types import Content, Part

__all__ = ["value", "words"]


def words(content: Content | None) -> str:
    """Give the text of a content: without the model's thoughts, and with media named, never dumped."""
    parts = (content.parts if content else None) or ()
    return "\n".join(text for text in map(_named, parts) if text)


def value(response: object) -> object:
    """Give what a tool returned: what is no dict, the host wraps into one of its own."""
    given: Any = response
    return given["result"] if isinstance(response, dict) and len(given) == 1 and "result" in given else given


def _named(part: Part) -> str:
    if part.thought:
        return ""
    blob, file = part.inline_data, part.file_data
    if blob is not None:
        return f"[{blob.mime_type or 'data'} {blob.display_name or ''}".rstrip() + "]"
    return f"[{file.mime_type or 'file'} {file.file_uri or ''}".rstrip() + "]" if file is not None else part.text or ""
