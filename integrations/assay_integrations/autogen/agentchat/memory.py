"""The native memory of AutoGen: `AssistantAgent(..., memory=[AssayMemory("memory.db")])`."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Self
from uuid import uuid4

from autogen_core import CancellationToken, Component, Image
from autogen_core.memory import (
    Memory,
    MemoryContent,
    MemoryMimeType,
    MemoryQueryResult,
    UpdateContextResult,
)
from autogen_core.model_context import ChatCompletionContext, ChatCompletionContextState
from autogen_core.models import LLMMessage, UserMessage
from pydantic import BaseModel

from assay import Hit
from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, guard
from assay_integrations.autogen.agentchat.events import question
from assay_integrations.autogen.agentchat.items import path_of
from assay_integrations.autogen.agentchat.place import Sessions

__all__ = ["AssayMemory", "AssayMemoryConfig"]

_SOURCE = "assay_memory"
_ADDED = "remember"
_PAGE = 200


class AssayMemoryConfig(BaseModel):
    """What is dumped of a memory."""

    target: str
    user: str | None = None
    session: str | None = None


class AssayMemory(Memory, Component[AssayMemoryConfig]):
    """Briefs an agent once a run, in its own context, and keeps what is added; it does not see what is said.

    The host keeps what a memory puts into a context. This one takes its message out again before it puts in the next,
    so that recalled text is there once, however many runs there were. To have runs recorded and every call briefed
    with nothing kept, give the agent an `AssayChatCompletionContext` instead: together they would brief twice.

    Args:
        target: What `AssayChatCompletionContext` takes.
        user: Whose memory it is; a store for one user needs none.
        session: The conversation; None for a new one.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        agent = AssistantAgent("helper", client, memory=[AssayMemory("memory/{user}.db", user="ada")])
    """

    component_config_schema = AssayMemoryConfig
    component_provider_override = "assay_integrations.autogen.agentchat.AssayMemory"

    def __init__(
        self,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        session: str | None = None,
        options: SessionOptions | None = None,
    ) -> None:
        self._target, self._key = target, SessionKey(user, session)
        self._sessions = Sessions(target, options)
        self._session = self._sessions.of_key(self._key)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Put what bears on the newest message before it, in the place of what was put there before."""
        text = ""
        with guard(self._session, "briefing"):
            held = await model_context.save_state()
            if set(held) != {"messages"}:
                raise TypeError("this context keeps more than messages, which would be lost: brief around it instead")
            state = ChatCompletionContextState.model_validate(held)
            kept = [message for message in state.messages if not _is_ours(message)]
            place, asks = question(kept, "")
            run = self._sessions.of_key(self._key, run=uuid4().hex)
            text = await run.aio.run(partial(_briefing, run, asks or ""))
            ours: list[LLMMessage] = [UserMessage(content=text, source=_SOURCE)] if text else []
            if ours or len(kept) != len(state.messages):
                state.messages = [*kept[:place], *ours, *kept[place:]]
                await model_context.load_state(state.model_dump())
        results = [MemoryContent(content=text, mime_type=MemoryMimeType.TEXT)] if text else []
        return UpdateContextResult(memories=MemoryQueryResult(results=results))

    async def query(
        self, query: str | MemoryContent, cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """Find what bears on a query: nothing when memory holds nothing on it."""
        text = query if isinstance(query, str) else _text(query)
        found: list[MemoryContent] = []
        with guard(self._session, "search"):
            found = await self._session.aio.run(partial(_search, self._session, text))
        return MemoryQueryResult(results=found)

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Keep a text, at the trust of the agent.

        Raises:
            ValueError: It is an image or bytes: a memory of texts cannot find them.
        """
        text = _text(content)
        with guard(self._session, "add"):
            await self._session.aio.remember(text)

    async def clear(self) -> None:
        """Erase what was added with `add`, in whichever conversation; what agents and people said stays.

        Raises:
            AssayError: The store failed: nothing is swallowed where a person wants something gone.
        """
        await self._session.aio.run(partial(_erase, self._session))

    async def close(self) -> None:
        """Close the stores that it opened."""
        self._sessions.close()

    def _to_config(self) -> AssayMemoryConfig:
        return AssayMemoryConfig(target=path_of(self._target), user=self._key.user, session=self._key.session)

    @classmethod
    def _from_config(cls, config: AssayMemoryConfig) -> Self:
        return cls(config.target, user=config.user, session=config.session)


def _is_ours(message: LLMMessage) -> bool:
    return isinstance(message, UserMessage) and message.source == _SOURCE


def _text(content: MemoryContent) -> str:
    held = content.content
    if isinstance(held, bytes | Image):
        raise ValueError("only text and JSON can be kept: describe it in words")
    return held if isinstance(held, str) else json.dumps(held, ensure_ascii=False, default=str)


def _search(session: Session, query: str) -> list[MemoryContent]:
    with session.store() as store:
        return [_content(hit) for hit in store.recall(query)]


def _content(hit: Hit) -> MemoryContent:
    facts = {"ref": hit.ref, "trust": hit.trust.value, "score": hit.score}
    return MemoryContent(content=hit.text, mime_type=MemoryMimeType.TEXT, metadata=facts)


def _erase(session: Session) -> None:
    with session.store() as store:
        after: int | None = None
        while True:
            page = store.episodes.list(after=after, limit=_PAGE)
            for episode in [one for one in page if one.metadata.get("event") == _ADDED]:
                store.erase(episode)
            after = page.next
            if after is None:
                return


def _briefing(run: Session, asks: str) -> str:
    """Brief for one run of the host: what is put into its context then stays as it is while it lasts."""
    run.run_started()
    text = run.briefing(asks).text
    run.run_ended(None)
    return text
