"""A memory for agents of Pydantic AI: records what happens in their runs and briefs every call of their model."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.pydantic_ai import events
from assay_integrations.pydantic_ai.composing import acompose, compose
from assay_integrations.pydantic_ai.place import Caller, Sessions
from pydantic_ai.capabilities import (
    AbstractCapability,
    WrapModelRequestHandler,
    WrapOutputProcessHandler,
    WrapRunHandler,
    WrapToolExecuteHandler,
)
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, SkipToolExecution, ToolRetryError
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.output import OutputContext
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import RunContext, ToolDefinition

__all__ = ["AssayCapability"]

_SIGNALS = (ApprovalRequired, CallDeferred, ModelRetry)
# What the last hook before the model changes is never kept by the host. Releases before 2.64 lack that hook, and those
# before 2.54 keep what `before_model_request` changes: there, `wrap_model_request` is the place.
_HAS_LAST_HOOK = hasattr(AbstractCapability, "prepare_model_request")


@dataclass(init=False, repr=False, eq=False)  # a spec of the host names dataclasses alone
class AssayCapability(AbstractCapability[Any]):
    """Gives an agent a memory that outlives its conversations.

    Put it first among the capabilities: it then sees a call of a model or a tool as the run does, after others have
    changed it. One object serves any number of runs, conversations and users at once. The session is the run's
    `conversation_id`; the user is `user_id` of its `deps`, or of its `metadata`.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Example:
        agent = Agent(model, capabilities=[AssayCapability("memory/{user}.db")])
        agent.run_sync("When do deploys go out?", conversation_id="c1", metadata={"user_id": "ada"})
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        super().__init__()
        self._sessions = Sessions(target, options)
        # The model that each session's agent used last composes its wrap.
        self._session: Session | None = None
        self._caller: Caller | None = None

    # -- the run ---------------------------------------------------------------------------------------------------

    async def for_run(self, ctx: RunContext[Any]) -> AssayCapability:
        """Make the object whose hooks one run calls: it knows the run's session."""
        hooks = copy(self)
        hooks._session, hooks._caller = self._sessions.of_run(ctx)
        return hooks

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Open the run with what the person said, and close it; then consolidate if it is time."""
        session = self._session
        if session is None:
            return await handler()
        with guard(session, "run_started"):
            await session.aio.run(partial(events.began, session, ctx, self._caller))
        try:
            result = await handler()
        except Exception as error:
            with guard(session, "run_failed"):
                await session.aio.run_failed(error)
            raise
        with guard(session, "run_ended"):
            await session.aio.run(partial(events.ended, session, result.output))
        await self._sessions.awrap(session, acompose)
        return result

    # -- the model -------------------------------------------------------------------------------------------------

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Brief the model."""
        session = self._session
        if session is not None:
            with guard(session, "briefing"):
                return await events.briefed(session, request_context)
        return request_context

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        """Record what was done for the run elsewhere, and what the model says; the run records how it fails."""
        session = self._session
        if session is None:
            return await handler(request_context)
        self._sessions.keep_model(session, request_context.model)
        if ctx.run_step == 1 and events.is_answered(request_context.messages):
            with guard(session, "tool_result"):
                await session.aio.run(partial(events.answered, session, request_context.messages))
        if not _HAS_LAST_HOOK:
            request_context = await self.prepare_model_request(ctx, request_context)
        response = await handler(request_context)
        if events.speaks(response):
            with guard(session, "agent_message"):
                await session.aio.run(partial(events.said, session, response))
        return response

    # -- the tools -------------------------------------------------------------------------------------------------

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:
        """Record the call of a tool, and what it gives or how it fails."""
        session = self._session
        if session is None:
            return await handler(args)
        with guard(session, "tool_call"):
            await session.aio.run(partial(events.called, session, call))
        try:
            with self._sessions.waiting(session):
                result = await handler(args)
        except _SIGNALS:
            raise
        except (SkipToolExecution, ToolRetryError) as signal:
            with guard(session, "tool_result"):
                await session.aio.run(partial(events.returned, session, call, signal))
            raise
        except Exception as error:
            with guard(session, "tool_error"):
                await session.aio.tool_error(call.tool_name, error, call_id=call.tool_call_id)
            raise
        with guard(session, "tool_result"):
            await session.aio.run(partial(events.returned, session, call, result))
        return result

    async def wrap_output_process(
        self, ctx: RunContext[Any], *, output_context: OutputContext, output: Any, handler: WrapOutputProcessHandler
    ) -> Any:
        """Know an agent that an output function calls for the one that takes over."""
        if self._session is None:
            return await handler(output)
        with self._sessions.waiting(self._session, hands_over=output_context.has_function):
            return await handler(output)

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Consolidate a session that is over, with the model that its agent used last; runs that wait go on later.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self._sessions.end(key, compose, now=now)

    async def aend_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self._sessions.aend(key, acompose, now=now)

    def close(self) -> None:
        """Close the stores that it opened; runs after this are not remembered."""
        self._sessions.close()
