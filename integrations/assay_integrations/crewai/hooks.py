"""The hooks of CrewAI that record what crews and agents do, brief their models, and consolidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.crewai import events, items
from assay_integrations.crewai.composing import compose
from assay_integrations.crewai.place import Run, Sessions
from crewai import BaseLLM
from crewai.agents.agent_builder.base_agent_executor import BaseAgentExecutor
from crewai.hooks import InterceptionPoint, LLMCallHookContext, ToolCallHookContext
from crewai.hooks.contexts import ExecutionEndContext, ExecutionStartContext, StepContext

__all__ = ["MemoryHooks"]


class MemoryHooks:
    """One method for each interception point that a memory needs.

    Hooks are called at once and in order, in the thread of the run, also where the run is on an event loop. None of
    them gives the host anything back: a prompt is changed in place, and a fault is counted, not raised.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        options: What is recorded, when it is consolidated, where and how large a briefing is.
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self.sessions = Sessions(target, options)

    def points(self) -> Mapping[InterceptionPoint, Callable[[Any], None]]:
        """Give each hook by the point where the host calls it."""
        return {
            InterceptionPoint.EXECUTION_START: self.execution_start,
            InterceptionPoint.PRE_STEP: self.pre_step,
            InterceptionPoint.PRE_MODEL_CALL: self.pre_model_call,
            InterceptionPoint.POST_MODEL_CALL: self.post_model_call,
            InterceptionPoint.PRE_TOOL_CALL: self.pre_tool_call,
            InterceptionPoint.POST_TOOL_CALL: self.post_tool_call,
            InterceptionPoint.EXECUTION_END: self.execution_end,
        }

    # -- the run ---------------------------------------------------------------------------------------------------

    def execution_start(self, context: ExecutionStartContext) -> None:
        """Open the run."""
        flow = context.flow
        if isinstance(flow, BaseAgentExecutor):  # each agent is a flow within; those of a crew are no kickoffs
            run = self.sessions.begin(flow, _role(flow.agent)) if flow.crew is None else None
        else:
            run = self.sessions.begin(context.crew) if flow is None else self.sessions.begin_flow(flow)
        if run is not None and not run.part:
            with guard(run.session, "run_started"):
                run.session.run_started()

    def pre_step(self, context: StepContext) -> None:
        """Record the task that is given to an agent: it is what the person asks."""
        run = self.sessions.run
        if run is not None and context.task is not None:
            with guard(run.session, "user_message"):
                events.given(run, context.task, _role(context.agent))

    def execution_end(self, context: ExecutionEndContext) -> None:
        """Close the run, and consolidate if it is time."""
        run = self.sessions.leave(context.flow if context.crew is None else context.crew)
        if run is None:
            return
        items.take_out(getattr(context.flow, "messages", []), run.blocks)
        if run.part:
            return
        with guard(run.session, "run_ended"):
            events.ended(run, context)
        # An agent keeps the hooks of its first task, so that those of another memory on the same stores saw the model.
        if run.model is not None:
            self.sessions.keep_model(run.session, run.model)
            self.sessions.wrap(run.session, compose)

    # -- the model -------------------------------------------------------------------------------------------------

    def pre_model_call(self, context: LLMCallHookContext) -> None:
        """Brief the model; a call without an executor is the host's own, or ours, and no agent's."""
        run, session = self._speaking(context)
        if run is None or session is None:
            return
        items.take_out(context.messages, run.blocks)
        if session.root and isinstance(context.llm, BaseLLM):
            run.keep_model(context.llm)
        with guard(session, "briefing"):
            events.briefed(session, run, context)

    def post_model_call(self, context: LLMCallHookContext) -> None:
        """Record what the model says, and leave no briefing in the messages that the host keeps."""
        run, session = self._speaking(context)
        if run is None or session is None:
            return
        items.take_out(context.messages, run.blocks)
        with guard(session, "agent_message"):
            events.said(session, context)

    # -- the tools -------------------------------------------------------------------------------------------------

    def pre_tool_call(self, context: ToolCallHookContext) -> None:
        """Record the call of a tool."""
        run, called = self.sessions.run, self.sessions.enter_tool(_role(context.agent), context.tool_input)
        if run is None or called is None:
            return
        # A tool may give the answer of its agent: then no model is called again, and this was the last chance.
        items.take_out(getattr(getattr(context.agent, "agent_executor", None), "messages", []), run.blocks)
        session, call_id = called
        with guard(session, "tool_call"):
            session.tool_call(context.tool_name, context.tool_input, call_id=call_id)

    def post_tool_call(self, context: ToolCallHookContext) -> None:
        """Record what a tool gives, or how it fails."""
        called = self.sessions.leave_tool(_role(context.agent), context.tool_input)
        if called is not None:
            session, call_id = called
            with guard(session, "tool_result"):
                events.returned(session, context, call_id)

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agents used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self.sessions.end(key, compose, now=now)

    def close(self) -> None:
        """Close the stores that it opened."""
        self.sessions.close()

    def _speaking(self, context: LLMCallHookContext) -> tuple[Run | None, Session | None]:
        if context.executor is None:
            return None, None
        return self.sessions.run, self.sessions.of_agent(_role(context.agent))


def _role(agent: Any) -> str:
    return str(getattr(agent, "role", "agent")).strip()
