"""What the items of the Agents SDK say: they are dicts on their way to a model, and objects on their way back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import cast

from agents import ModelResponse, ToolOutputFileContent, ToolOutputImage, ToolOutputText, TResponseInputItem

from assay.session import field_of, question_in

__all__ = ["output", "question", "spoken", "text_of", "words"]

_FROM_OUTSIDE = ("user", "system", "developer")
_PARTS = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)


def text_of(item: object) -> str:
    """Give the words of a message; what is no text is named, not dumped."""
    content = field_of(item, "content")
    return content if isinstance(content, str) else "\n".join(map(_part, content or ()))


def words(given: str | Sequence[TResponseInputItem]) -> list[str]:
    """Give what a person says anew: the input, or the messages of the user behind the last answer in it."""
    if isinstance(given, str):
        return [given]
    newest = list(takewhile(lambda item: field_of(item, "role") in _FROM_OUTSIDE, reversed(given)))
    return [text_of(item) for item in reversed(newest) if field_of(item, "role") == "user"]


def question(given: Sequence[TResponseInputItem], asked: str) -> tuple[int, str | None]:
    """Find the message that a run answers, in what a model is about to receive, and its words."""
    users = {place: text_of(item) for place, item in enumerate(given) if field_of(item, "role") == "user"}
    return question_in(users, asked, len(given))


def spoken(response: ModelResponse) -> str:
    """Give what a model said besides the calls it asks for."""
    return "\n".join(filter(None, (text_of(item) for item in response.output if item.type == "message")))


def output(result: object) -> object:
    """Give what a tool gave, with its pictures and files named instead of dumped."""
    parts = _parts(result)
    return "\n".join(map(_part, parts)) if parts else result


def _parts(result: object) -> list[object]:
    """Give the host's own parts that a result consists of; none when it is anything else."""
    parts = cast("list[object]", result) if isinstance(result, list) else [result]
    return parts if all(isinstance(part, _PARTS) for part in parts) else []


def _part(part: object) -> str:
    text = field_of(part, "text") or field_of(part, "refusal")
    kind = str(field_of(part, "type") or "attachment")
    return text if isinstance(text, str) else f"[{kind.removeprefix('input_')}]"
