"""What the messages of AutoGen say: the words in them, and what tools are called with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import cast

from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core.models import UserMessage

__all__ = ["Task", "as_message", "messages_of", "path_of", "transfer", "words"]

Task = str | BaseChatMessage | Sequence[BaseChatMessage] | None

_TRANSFER = "transfer_to_"


def words(message: UserMessage) -> str:
    """Give the text of a message, in which images are named, never dumped."""
    parts = [message.content] if isinstance(message.content, str) else message.content
    return "\n".join(part if isinstance(part, str) else "[image]" for part in parts)


def as_message(task: Task) -> Task:
    """Give a task in words as the message that the host makes of it, so that it has an id; any other as it is."""
    return TextMessage(content=task, source="user") if isinstance(task, str) else task


def messages_of(task: Task) -> list[BaseChatMessage]:
    """Give the messages of a task; what the host refuses is left to it."""
    given = [task] if isinstance(task, BaseChatMessage) else task or ()
    return [message for message in given if isinstance(message, BaseChatMessage)]


def path_of(target: object) -> str:
    """Give the target of a component that is dumped.

    Raises:
        TypeError: It is no path.
    """
    if not isinstance(target, (str, os.PathLike)):
        raise TypeError("only what was given a path can be dumped: an open store is no configuration")
    return os.fspath(cast("str | os.PathLike[str]", target))


def transfer(name: str) -> str | None:
    """Give the agent to whom a tool of the host's own hands the conversation over, or None for any other tool."""
    return name.removeprefix(_TRANSFER) if name.startswith(_TRANSFER) else None
