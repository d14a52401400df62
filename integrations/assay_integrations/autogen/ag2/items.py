"""What the events of AG2 say: the words of a request, and the values that tools take and give."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ag2.events import (
    BinaryInput,
    DataInput,
    FileIdInput,
    Input,
    ModelRequest,
    TextInput,
    ToolResult,
    UrlInput,
)

__all__ = ["value", "words"]


def words(request: ModelRequest) -> str:
    """Give the text of a request, in which media are named, never dumped."""
    return _text(request.parts)


def value(result: ToolResult) -> object:
    """Give what a tool gave: the thing itself, or the text of its parts."""
    parts = result.parts
    return parts[0].data if len(parts) == 1 and isinstance(parts[0], DataInput) else _text(parts)


def _text(parts: Sequence[Input]) -> str:
    return "\n".join(map(_named, parts))


def _named(part: Input) -> str:
    match part:
        case TextInput():
            return part.content
        case DataInput():
            return json.dumps(part.data, ensure_ascii=False, default=str)
        case BinaryInput():
            return f"[{part.media_type} {part.vendor_metadata.get('filename', '')}".rstrip() + "]"
        case UrlInput():
            return f"[{part.kind.value} {part.url}]"
        case FileIdInput():
            return f"[file {part.filename or part.file_id}]"
        case _:
            return f"[{type(part).__name__}]"
