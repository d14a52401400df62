"""A store of conversations for tests."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

__all__ = ["Lists"]


class Lists(SQLAlchemyChatStore):
    """Keeps conversations in lists: connections of the host's own do not outlive a loop."""

    def __init__(self, **given: Any) -> None:
        super().__init__(table_name="messages")
        self._kept: dict[str, list[dict[str, Any]]] = {}

    async def get_messages(self, key: str, *given: Any, **more: Any) -> list[ChatMessage]:
        return [ChatMessage.model_validate(one) for one in self._kept.get(key, [])]

    async def add_message(self, key: str, message: ChatMessage, *given: Any, **more: Any) -> None:
        await self.add_messages(key, [message])

    async def add_messages(self, key: str, messages: list[ChatMessage], *given: Any, **more: Any) -> None:
        self._kept.setdefault(key, []).extend(one.model_dump(mode="json") for one in messages)

    async def set_messages(self, key: str, messages: list[ChatMessage], *given: Any, **more: Any) -> None:
        self._kept[key] = [one.model_dump(mode="json") for one in messages]
