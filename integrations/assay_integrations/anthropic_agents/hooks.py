"""A memory for the hooks of Claude agents: records what happens in a conversation and briefs its prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Final, cast

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKError,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    ResultMessage,
)
from claude_agent_sdk.types import HookEvent

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.anthropic_agents import events
from assay_integrations.anthropic_agents.composing import Transports, compose
from assay_integrations.anthropic_agents.events import Given
from assay_integrations.anthropic_agents.place import Sessions

__all__ = ["AssayHooks", "session"]

# Seconds that the host waits for a hook before it goes on without. The port gives up earlier.
_PATIENCE = 10.0

_TOLD: Final[Mapping[str, tuple[str, Callable[[Session, Given], None]]]] = MappingProxyType(
    {
        "PreToolUse": ("tool_call", events.called),
        "PostToolUse": ("tool_result", events.returned),
        "PostToolUseFailure": ("tool_error", events.broke),
        "SubagentStop": ("agent_message", events.stopped),
        "Stop": ("run_ended", events.ended),
        "StopFailure": ("run_failed", events.failed),
    }
)
_BRIEFED: Final = ("UserPromptSubmit", "SubagentStart")
_SUMMED_UP: Final = "PreCompact"


class AssayHooks:
    """Gives the conversations of one user a memory, through the hooks of `ClaudeAgentOptions`.

    One object serves any number of conversations at once, of `query` and of `ClaudeSDKClient`.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        user: Whose memory it is; the host has no users of its own. A store for one user needs none.
        session: The session in memory; by default each conversation is one, by the id that the host gives it.
        agent: Name under which the agent's own words are recorded.
        transport: Makes the transport of a wrap where the host's own is not in use.
        options: What is recorded, when it is consolidated, and how large a briefing is.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        memory = AssayHooks("memory/{user}.db", user="ada")
        async for message in query(prompt="When do we deploy?", options=memory.attach(options)): ...
    """

    def __init__(
        self,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        transport: Transports = None,
        options: SessionOptions | None = None,
    ) -> None:
        self._sessions = Sessions(target, SessionKey(user, session, agent), options)
        self._compose = partial(compose, transport)
        self._newest: SessionKey | None = None

    def attach(self, options: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """Give a copy of the host's options with the memory's hooks behind the user's own."""
        theirs = options or ClaudeAgentOptions()

        async def hear(told: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
            return await self._heard(cast("Given", told), theirs)

        hooks: dict[str, list[HookMatcher]] = {name: [*of] for name, of in (theirs.hooks or {}).items()}
        for event in (*_BRIEFED, *_TOLD, _SUMMED_UP):
            hooks.setdefault(event, []).append(HookMatcher(hooks=[hear], timeout=_PATIENCE))
        return replace(theirs, hooks=cast("dict[HookEvent, list[HookMatcher]]", hooks))

    # -- the hooks -------------------------------------------------------------------------------------------------

    async def _heard(self, given: Given, options: ClaudeAgentOptions) -> HookJSONOutput:
        session, event = self._sessions.of_hook(given), str(given["hook_event_name"])
        if session is None:
            return {}
        self._newest = session.key
        self._sessions.keep_model(session, options)
        if event in _BRIEFED:
            return await self._brief(session, event, given)
        if event == _SUMMED_UP:
            self._sessions.forget_held(session)
        else:
            code, tell = _TOLD[event]
            with guard(session, code):
                await session.aio.run(partial(tell, session, given))
        return {}

    async def _brief(self, session: Session, event: str, given: Given) -> HookJSONOutput:
        if "prompt" in given:
            by_host = events.by_host(given)
            with guard(session, "run_started"):
                await session.aio.run(partial(events.went_on if by_host else events.began, session, given))
            if by_host:
                return {}
        with guard(session, "briefing"):
            text = await session.aio.run(partial(self._briefing, session, given))
            if text:
                return cast(
                    "HookJSONOutput", {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
                )
        return {}

    def _briefing(self, session: Session, given: Given) -> str:
        """Give what the conversation has not been shown yet; a sub-agent has a conversation of its own."""
        if "agent_id" in given:
            return events.sub(session, given).briefing().text
        held = self._sessions.held(session)
        briefing = session.briefing(exclude=held.refs, continuity=not held.continuity)
        if briefing:
            held.refs += briefing.refs
            held.continuity = True
        return briefing.text

    # -- the end ---------------------------------------------------------------------------------------------------

    async def failed(self, error: Exception | ResultMessage) -> None:
        """Record that the newest run failed: with an error of the host's, or with a result that no hook has seen."""
        if self._newest is not None:
            session = self._sessions.of_key(self._newest)
            with guard(session, "run_failed"):
                if isinstance(error, ResultMessage):
                    await session.aio.run(partial(events.result_failed, session, error))
                else:
                    await session.aio.run_failed(error)

    async def wrap(self) -> None:
        """Consolidate if it is time, with the model of the agent; a fault of the memory is counted, not raised."""
        if self._newest is not None:
            session = self._sessions.of_key(self._newest)
            options = self._sessions.model(session) or ClaudeAgentOptions()
            with guard(session, "wrap"):
                await session.aio.wrap(partial(self._compose, options))

    async def end_session(self, key: SessionKey | None = None, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agent used last.

        Args:
            key: None for the session that was heard of last.
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return await self._sessions.aend(key or self._newest or self._sessions.key, self._compose, now=now)

    def close(self) -> None:
        """Close the stores that it opened; what is said after this is not remembered."""
        self._sessions.close()

    async def __aenter__(self) -> AssayHooks:
        """Begin a block of conversations."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Consolidate if it is time, and close; an error of the host that leaves the block is the run's failure."""
        if isinstance(error, ClaudeSDKError):
            await self.failed(error)
        elif error is None:
            await self.wrap()
        self.close()


def session(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    transport: Transports = None,
    options: SessionOptions | None = None,
) -> AssayHooks:
    """Open a memory for the conversations of a block; the arguments are those of `AssayHooks`.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        async with session("memory.db") as memory:
            async for message in query(prompt="When do we deploy?", options=memory.attach()): ...
    """
    return AssayHooks(target, user=user, session=session, agent=agent, transport=transport, options=options)
