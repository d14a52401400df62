"""A memory for agents of AutoGen: records what their model context is given and briefs every call of their model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

from autogen_core import Component, ComponentModel
from autogen_core.model_context import ChatCompletionContext, UnboundedChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    FunctionExecutionResultMessage,
    LLMMessage,
    UserMessage,
)
from pydantic import BaseModel

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.autogen.agentchat import events
from assay_integrations.autogen.agentchat.composing import acompose
from assay_integrations.autogen.agentchat.items import path_of
from assay_integrations.autogen.agentchat.place import ClientTalk, talk_of

__all__ = ["AssayChatCompletionContext", "AssayChatCompletionContextConfig", "TalkContext"]


class TalkContext(ChatCompletionContext):
    """The context of one agent of a conversation: it decorates a context of the host's own, which keeps the messages.

    Of the briefing there is nothing in what is kept.
    """

    def __init__(self, talk: ClientTalk, inner: ChatCompletionContext | None) -> None:
        super().__init__()
        self._talk = talk
        self._inner = inner or UnboundedChatCompletionContext()
        # An agent adds what its model said after it has asked for messages; what is added before was said elsewhere.
        self._awaited = False
        self._calls = frozenset[str]()

    async def add_message(self, message: LLMMessage) -> None:
        """Keep a message, and record what is new in it."""
        await self._inner.add_message(message)
        told = self._heard(message)
        if told is None:
            return
        session, alone = self._talk.session, self._talk.alone(self)
        with guard(session, "record"):
            await session.aio.run(told)
        if alone and isinstance(message, AssistantMessage) and isinstance(message.content, str):
            with guard(session, "run_ended"):
                await session.aio.run_ended(None)
            await self._talk.sessions.awrap(session, acompose)

    async def get_messages(self) -> list[LLMMessage]:
        """Give the messages for a call of the model, with the briefing among them."""
        session, messages = self._talk.session, await self._inner.get_messages()
        self._awaited = True
        with guard(session, "briefing"):
            return await events.briefed(session, messages)
        return messages

    async def clear(self) -> None:
        """Forget the messages; what was recorded of them stays: `store.erase` removes that."""
        await self._inner.clear()

    async def save_state(self) -> Mapping[str, Any]:
        """Give the state of the context that keeps the messages."""
        return await self._inner.save_state()

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Take over the messages of an earlier context, which were recorded when they were new."""
        await self._inner.load_state(state)

    def dump_component(self) -> ComponentModel:
        """Give the context that keeps the messages: an open conversation is no configuration."""
        return self._inner.dump_component()

    def _heard(self, message: LLMMessage) -> Callable[[], None] | None:
        """Give what a message tells the memory, or None when it is known or nobody's."""
        talk, session = self._talk, self._talk.session
        match message:
            case UserMessage():
                self._settle()
                if talk.alone(self) and message.source in talk.people:
                    return partial(events.asked_alone, session, message)
            case AssistantMessage() if self._awaited:
                self._awaited = False
                if not isinstance(message.content, str):
                    self._calls = frozenset(call.id for call in message.content)
                    talk.calling[self] = message.source
                return partial(events.said, session.named(message.source), message)
            case FunctionExecutionResultMessage() if self in talk.calling:
                speaker = session.named(talk.calling[self])
                results = [result for result in message.content if result.call_id in self._calls]
                self._settle()
                return partial(events.returned, speaker, results)
            case _:
                pass
        return None

    def _settle(self) -> None:
        self._calls = frozenset[str]()
        self._talk.calling.pop(self, None)


class AssayChatCompletionContextConfig(BaseModel):
    """What is dumped of a context: whose memory it is, and what keeps its messages."""

    target: str
    user: str | None = None
    session: str | None = None
    inner: ComponentModel
    client: ComponentModel | None = None


class AssayChatCompletionContext(TalkContext, Component[AssayChatCompletionContextConfig]):
    """Gives one agent a memory that outlives its context; an agent among others has `session(...)` and its `context()`.

    A run begins with the person's words and ends with the agent's next text: how one fails is not seen from here.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        user: Whose memory it is; a store for one user needs none.
        session: The conversation; None for a new one.
        inner: Keeps the messages; by default the host's `UnboundedChatCompletionContext`.
        client: Composes when it is time to consolidate; without it and without `WrapPolicy(model=)` nothing does.
        options: What is recorded, when it is consolidated, where and how large a briefing is; not part of a dump.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        context = AssayChatCompletionContext("memory/{user}.db", user="ada", session="monday", client=client)
        agent = AssistantAgent("helper", client, model_context=context)
    """

    component_config_schema = AssayChatCompletionContextConfig
    component_provider_override = "assay_integrations.autogen.agentchat.AssayChatCompletionContext"

    def __init__(
        self,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        session: str | None = None,
        inner: ChatCompletionContext | None = None,
        client: ChatCompletionClient | None = None,
        options: SessionOptions | None = None,
    ) -> None:
        self._target, self._key, self._client = target, SessionKey(user, session), client
        super().__init__(talk_of(target, self._key, client, (), options), inner)

    async def aend_session(self, *, now: bool = False) -> WrapResult:
        """Close what the session has open, and consolidate with the client.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return await self._talk.sessions.aend(self._talk.session, acompose, now=now)

    def close(self) -> None:
        """Close the stores that it opened; runs after this are not remembered."""
        self._talk.sessions.close()

    def dump_component(self) -> ComponentModel:
        """Give whose memory it is, and the context that keeps the messages.

        Raises:
            TypeError: The target is no path.
        """
        return ChatCompletionContext.dump_component(self)

    def _to_config(self) -> AssayChatCompletionContextConfig:
        client = self._client
        return AssayChatCompletionContextConfig(
            target=path_of(self._target),
            user=self._key.user,
            session=self._key.session,
            inner=self._inner.dump_component(),
            client=None if client is None else client.dump_component(),
        )

    @classmethod
    def _from_config(cls, config: AssayChatCompletionContextConfig) -> Self:
        inner = ChatCompletionContext.load_component(config.inner)
        client = None if config.client is None else ChatCompletionClient.load_component(config.client)
        return cls(config.target, user=config.user, session=config.session, inner=inner, client=client)
