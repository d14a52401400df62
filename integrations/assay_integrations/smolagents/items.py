"""What the messages and values of smolagents say; what is no text is named, not dumped."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import re
from typing import Any

from smolagents.agent_types import AgentType
from smolagents.memory import ActionStep
from smolagents.models import ChatMessage, parse_json_if_needed

__all__ = ["plain", "spoken", "text_of", "words"]

# What the host itself writes behind the words of a task, and before a call that a model writes as text.
_ARGUMENTS = "\nYou have been provided with these additional arguments"
_ACTION = "Action:"


def words(task: str) -> str:
    """Give a task without the arguments that the host has pasted behind it."""
    return task.partition(_ARGUMENTS)[0]


def text_of(message: ChatMessage | None) -> str:
    """Give the text of a message."""
    content: Any = message.content if message is not None else ""
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(str(part["text"]) for part in content if part.get("type") == "text")


def spoken(step: ActionStep, opening: str) -> str:
    """Give what a model said besides the code or the calls it asks for, which it may have to write as text.

    Args:
        opening: Matches what begins the code of an agent that acts by code.
    """
    message = step.model_output_message
    text = text_of(message)
    if step.code_action is not None:
        before, *code = re.split(f"{opening}|```", text, maxsplit=1)
        # Thought and code may be two fields of one answer.
        answer: Any = {} if code else parse_json_if_needed(text)
        return before.strip() if code else str(answer.get("thought", "")) if isinstance(answer, dict) else ""
    calls = (message.tool_calls if message is not None else None) or ()
    if any(call.function.name in text for call in calls):
        text = text.partition("{")[0].strip().removesuffix(_ACTION)
    return text.strip()


def plain(value: Any) -> Any:
    """Give what a tool or a run gave, as a text or as it is."""
    if isinstance(value, AgentType):
        return str(value) if isinstance(value, str) else f"[{type(value).__name__}]"
    return value
