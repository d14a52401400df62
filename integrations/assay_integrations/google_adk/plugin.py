"""A memory for the runners of ADK: records what happens in their runs and briefs every call of a model."""

from __future__ import annotations

import asyncio
import hashlib
from functools import partial
from typing import Any

from google.adk.agents import BaseAgent, InvocationContext
from google.adk.agents.callback_context import CallbackContext
from google.adk.events import Event
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from assay import Store
from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.google_adk import events
from assay_integrations.google_adk.composing import acompose
from assay_integrations.google_adk.items import words
from assay_integrations.google_adk.place import Sessions

__all__ = ["AssayPlugin"]


class AssayPlugin(BasePlugin):
    """Gives the agents of an app a memory that outlives their sessions.

    Put it first among the plugins: one that answers a call itself keeps it from those behind it. One object serves any
    number of runs, sessions and users at once, and changes nothing that a hook may change but the prompt of the model.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        options: What is recorded, when it is consolidated, where and how large a briefing is.
        name: Its name in the runner; two memories of one app need two names, and have them by default.

    Example:
        app = App(name="deploys", root_agent=agent, plugins=[AssayPlugin("memory/{user}.db")])
        runner = InMemoryRunner(app=app)
    """

    def __init__(
        self, target: Target | StoreRouter, *, options: SessionOptions | None = None, name: str | None = None
    ) -> None:
        super().__init__(name or f"{type(self).__name__}-{_digest(target)}")
        self._sessions = Sessions(target, options)

    # -- the run ---------------------------------------------------------------------------------------------------

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Open the run, or go on with it, and record what the person said."""
        session = self._sessions.of_run(invocation_context)
        if session is not None:
            with guard(session, "run_started"):
                await session.aio.run(partial(events.began, session, invocation_context))

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> None:
        """Say in which run the task is that runs the agent, for what is run inside it."""
        invocation = callback_context.get_invocation_context()
        session = self._sessions.of_run(invocation, agent.name)
        if session is not None:
            self._sessions.enter(session, invocation)

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> None:
        """Record what an agent says, as the caller is about to receive it."""
        silent = event.partial or not words(event.content)
        session = None if silent else self._sessions.of_run(invocation_context, event.author)
        if session is not None:
            with guard(session, "agent_message"):
                await session.aio.run(partial(events.said, session, event))

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Close the run if it is over, and consolidate if it is time."""
        session = self._sessions.of_run(invocation_context)
        if session is None:
            return
        over = False
        with guard(session, "run_ended"):
            over = await session.aio.run(partial(events.ended, session, events.of_run(invocation_context)))
        if over:
            await self._sessions.awrap(session, acompose)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Record that the run failed."""
        session = self._sessions.of_run(invocation_context)
        if session is not None:
            with guard(session, "run_failed"):
                await session.aio.run_failed(error)

    # -- the model -------------------------------------------------------------------------------------------------

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Brief the model."""
        invocation = callback_context.get_invocation_context()
        session = self._sessions.of_run(invocation, callback_context.agent_name)
        if session is not None:
            with guard(session, "briefing"):
                model = getattr(invocation.agent, "canonical_model", None)
                if isinstance(model, BaseLlm):
                    self._sessions.keep_model(session, model)
                await events.briefed(session, llm_request)

    # -- the tools -------------------------------------------------------------------------------------------------

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> None:
        """Record the call of a tool."""
        invocation = tool_context.get_invocation_context()
        session = self._sessions.of_run(invocation, tool_context.agent_name)
        if session is not None:
            with guard(session, "tool_call"):
                self._sessions.enter(session, invocation, calling=True)
                call_id = tool_context.function_call_id
                await session.aio.run(partial(events.called, session, tool.name, tool_args, call_id))

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> None:
        """Record what a tool gives, unless its answer comes later."""
        session = self._sessions.of_run(tool_context.get_invocation_context(), tool_context.agent_name)
        if session is not None and (result or not tool.is_long_running):
            with guard(session, "tool_result"):
                call_id, actions = tool_context.function_call_id, tool_context.actions
                await session.aio.run(partial(events.returned, session, tool.name, result, call_id, actions))

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> None:
        """Record how a tool fails."""
        session = self._sessions.of_run(tool_context.get_invocation_context(), tool_context.agent_name)
        if session is not None:
            with guard(session, "tool_error"):
                call_id = tool_context.function_call_id
                await session.aio.run(partial(events.failed, session, tool.name, error, call_id))

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agent used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return asyncio.run(self.aend_session(key, now=now))

    async def aend_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self._sessions.aend(key, acompose, now=now)

    async def close(self) -> None:
        """Close the stores that it opened, as a runner does that is closed; the next run opens them again."""
        if not self._sessions.nested:
            await asyncio.to_thread(self._sessions.close)


def _digest(target: Target | StoreRouter) -> str:
    """Tell the memories of one app apart, by the same name in every process where there is a path."""
    place = target.path if isinstance(target, Store) else target
    return hashlib.sha256(str(place).encode()).hexdigest()[:8]
