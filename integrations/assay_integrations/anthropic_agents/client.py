"""The SDK's client for conversations, with a memory."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Literal

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Message, ResultMessage, Transport

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult
from assay_integrations.anthropic_agents.composing import Transports
from assay_integrations.anthropic_agents.hooks import AssayHooks

__all__ = ["AssaySDKClient"]


class AssaySDKClient(ClaudeSDKClient):
    """A `ClaudeSDKClient` whose conversation is remembered.

    It consolidates, if it is time, when a response has been read to its end, and when the block that opened it ends.

    Args:
        target: What `AssayHooks` takes.
        options: The host's options; they are copied.
        transport: One of the host's transports, or a function of options that makes one for each conversation.
        user: Whose memory it is; the host has no users of its own. A store for one user needs none.
        session: The session in memory; by default the id that the host gives the conversation.
        agent: Name under which the agent's own words are recorded.
        memory_options: What is recorded, when it is consolidated, and how large a briefing is.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        async with AssaySDKClient("memory/{user}.db", options, user="ada") as client:
            await client.query("When do we deploy?")
            async for message in client.receive_response(): ...
    """

    def __init__(
        self,
        target: Target | StoreRouter,
        options: ClaudeAgentOptions | None = None,
        transport: Transports = None,
        *,
        user: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        memory_options: SessionOptions | None = None,
    ) -> None:
        self.memory = AssayHooks(
            target, user=user, session=session, agent=agent, transport=transport, options=memory_options
        )
        self._transports = transport
        super().__init__(self.memory.attach(options), transport if isinstance(transport, Transport) else None)

    async def connect(self, prompt: str | AsyncIterable[dict[str, Any]] | None = None) -> None:
        """Connect, as the host does."""
        if self._transports is not None and not isinstance(self._transports, Transport):
            super().__init__(self.options, self._transports(self.options))
        await super().connect(prompt)

    async def receive_messages(self) -> AsyncIterator[Message]:
        """Receive all messages, and record a run that fails in a way that no hook sees."""
        try:
            async for message in super().receive_messages():
                if isinstance(message, ResultMessage) and message.is_error:
                    await self.memory.failed(message)
                yield message
        except Exception as error:
            await self.memory.failed(error)
            raise

    async def receive_response(self) -> AsyncIterator[Message]:
        """Receive the messages of one response, and consolidate behind the last one if it is time."""
        async for message in super().receive_response():
            yield message
        await self.memory.wrap()

    async def end_session(self, key: SessionKey | None = None, *, now: bool = False) -> WrapResult:
        """Close what a session has open and consolidate, as `AssayHooks.end_session` does."""
        return await self.memory.end_session(key, now=now)

    async def __aenter__(self) -> AssaySDKClient:
        """Connect."""
        await super().__aenter__()
        return self

    async def __aexit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> Literal[False]:
        """Disconnect, consolidate if it is time and no error is on its way, and close the stores that it opened."""
        await super().__aexit__(exc_type, exc_val, exc_tb)
        if exc_type is None:
            await self.memory.wrap()
        self.memory.close()
        return False
