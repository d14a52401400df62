"""An agent's memory of its steps that outlives them: it records what the steps show, and briefs the agent's model."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportIncompatibleVariableOverride=false
from __future__ import annotations

import sys
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from typing import TypeVar

from assay.session import Placement, Session, SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.smolagents import events
from assay_integrations.smolagents.composing import compose
from assay_integrations.smolagents.place import Sessions
from assay_integrations.smolagents.steps import BriefedPrompt, Callbacks, with_briefing
from assay_integrations.smolagents.uses import Use, unwatch, watch
from smolagents.agents import MultiStepAgent
from smolagents.memory import ActionStep, AgentMemory, FinalAnswerStep, MemoryStep, PlanningStep, SystemPromptStep

__all__ = ["AssayAgentMemory", "session"]

A = TypeVar("A", bound=MultiStepAgent)


class AssayAgentMemory(AgentMemory):
    """Gives an agent a memory that outlives its runs, in place of the `AgentMemory` that keeps its steps.

    The agents that it manages are attached with it, and further ones may be: each keeps its own steps. An agent runs
    once at a time; the host has no ids, so user and session are those of this object.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        user: Whose memory it is; a store for one user needs none.
        session: Name of the conversation; without one, each run is a session of its own.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        memory = AssayAgentMemory("memory/{user}.db", user="ada", session="s1")
        memory.attach(agent).run("When do deploys go out?")
    """

    def __init__(
        self,
        target: Target | StoreRouter | Sessions,
        *,
        user: str | None = None,
        session: str | None = None,
        options: SessionOptions | None = None,
    ) -> None:
        key = SessionKey(user, session)
        self._sessions = target if isinstance(target, Sessions) else Sessions(target, key, options)
        self._sessions.check()
        self._family: list[AssayAgentMemory] = []
        self._agent: MultiStepAgent | None = None
        self._session: Session | None = None
        self._uses: list[Use] = []
        # What was being handled around the step when it began: an error that is no news.
        self._around: BaseException | None = None
        super().__init__("")

    # -- the agent -------------------------------------------------------------------------------------------------

    def attach(self, agent: A) -> A:
        """Take over an agent's steps, and give the agent back.

        Raises:
            ValueError: A memory is attached to it already.
        """
        if isinstance(agent.memory, AssayAgentMemory):
            raise ValueError("a memory is attached to this agent: detach it first")
        memory = self if self._agent is None else AssayAgentMemory(self._sessions)
        self._family.append(memory)
        memory._enter(agent)
        for managed in agent.managed_agents.values():
            if not isinstance(managed.memory, AssayAgentMemory):
                self.attach(managed)
        return agent

    def detach(self) -> None:
        """Give its agents back what they had, with the steps since; later runs are not remembered."""
        for memory in self._family:
            memory._leave()
        self._family.clear()

    def _enter(self, agent: MultiStepAgent) -> None:
        self._before, self._callbacks = agent.memory, agent.step_callbacks
        self._prompt = BriefedPrompt(agent.memory.system_prompt.system_prompt, self._brief)
        self.steps = agent.memory.steps
        agent.memory, agent.step_callbacks = self, Callbacks(agent.step_callbacks, self._heard)
        self._agent = agent

    def _leave(self) -> None:
        agent, self._agent = self._agent, None
        if agent is not None:
            self._before.steps, self._before.system_prompt = self.steps, SystemPromptStep(self._prompt.system_prompt)
            agent.memory, agent.step_callbacks = self._before, self._callbacks
            unwatch(agent.tools)
            unwatch(agent.managed_agents)

    # -- the run ---------------------------------------------------------------------------------------------------

    @property
    def system_prompt(self) -> SystemPromptStep:
        """Give the first step of every prompt; each run of the agent begins by setting it."""
        return self._prompt

    @system_prompt.setter
    def system_prompt(self, step: SystemPromptStep) -> None:
        self._prompt = BriefedPrompt(step.system_prompt, self._brief)
        if self._agent is not None:
            self._begin(self._agent)

    def _begin(self, agent: MultiStepAgent) -> None:
        """Open the run with what the person said."""
        session = self._session = self._sessions.of_run(agent.name)
        self._uses.clear()
        if session is None:
            return
        self._sessions.keep_model(session, agent.model)
        watch(agent.tools, self._calling)
        watch(agent.managed_agents, self._calling)
        with guard(session, "run_started"):
            events.began(session, agent.task or "")

    def _brief(self, prompt: str) -> str:
        """Say what the system prompt of a model is to be, and put what memory holds before the newest task."""
        session, self._around = self._session, sys.exc_info()[1]
        return prompt if session is None else guard.value(session, partial(self._briefed, session, prompt), prompt)

    def _briefed(self, session: Session, prompt: str) -> str:
        text = session.briefing().text
        if text and session.options.placement is Placement.SYSTEM:
            return f"{prompt}\n\n{text}"
        if text:
            with_briefing(self.steps, text)
        return prompt

    def _heard(self, step: MemoryStep, agent: MultiStepAgent) -> None:
        """Record a step that is over; a run that fails raises through its last one."""
        session = self._session
        if session is None:
            return
        if isinstance(step, PlanningStep):
            with guard(session, "agent_message"):
                events.planned(session, step)
        elif isinstance(step, ActionStep):
            with guard(session, "tool_result"):
                events.acted(session, step, self._uses, *getattr(agent, "code_block_tags", ("",))[:1])
            self._uses.clear()
            error = sys.exc_info()[1]
            if error is not None and error is not self._around:
                self._session = None
                with guard(session, "run_failed"):
                    events.failed(session, error)
        elif isinstance(step, FinalAnswerStep):
            self._end(session, step)

    def _end(self, session: Session, step: FinalAnswerStep) -> None:
        """Close the run, and consolidate if it is time."""
        self._session = None
        with guard(session, "run_ended"):
            events.ended(session, step.output)
        self._sessions.wrap(session, compose)

    def _calling(self, use: Use) -> AbstractContextManager[None]:
        """Note a use of a tool, and mark the block in which the agent waits for it."""
        self._uses.append(use)
        return nullcontext() if self._session is None else self._sessions.calling(self._session)

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, key: SessionKey | None = None, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agent used last.

        Args:
            key: None for this object's own.
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self._sessions.end(key or self._sessions.key, compose, now=now)

    def close(self) -> None:
        """Detach it, and close the stores that it opened."""
        self.detach()
        self._sessions.close()


def session(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> AbstractContextManager[AssayAgentMemory]:
    """Give the agents that are attached inside a block a memory, and take it off when the block ends.

    Args:
        target: What `AssayAgentMemory` takes, as the rest.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        with session("memory/{user}.db", user="ada", session="s1") as memory:
            memory.attach(agent).run("When do deploys go out?")
    """
    return closing(AssayAgentMemory(target, user=user, session=session, options=options))
