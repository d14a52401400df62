"""What the hooks of CrewAI mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from typing import Any

from assay.session import Session
from assay_integrations.crewai import items
from assay_integrations.crewai.place import Run
from crewai import Task
from crewai.hooks import HookAborted, LLMCallHookContext, ToolCallHookContext
from crewai.hooks.contexts import ExecutionEndContext

__all__ = ["briefed", "ended", "given", "returned", "said"]


def given(run: Run, task: Task, agent: str) -> None:
    """An agent is given a task; another one than the agent of the task before takes over from it."""
    before, run.speaker = run.speaker, agent
    if before is not None and before != agent:
        run.session.handoff(before, agent, id=str(task.id))
    run.session.named(agent).user_message(task.description, id=str(task.id))


def briefed(session: Session, run: Run, context: LLMCallHookContext) -> None:
    """A model is about to be called: put what memory holds before what its agent is asked."""
    if context.task is not None:
        question = context.task.description
    else:
        question = run.questions.setdefault(getattr(context.executor, "flow_id", ""), items.words(context))
    if question != session.asked and (context.task is None or not session.root):
        session.user_message(question)
    text = session.briefing(question).text
    if text:
        run.blocks.add(text)
        items.place(context.messages, text, question, session.options.placement)


def said(session: Session, context: LLMCallHookContext) -> None:
    """A model has answered in words."""
    text = items.spoken(context.response)
    if text:
        session.agent_message(text)


def returned(session: Session, context: ToolCallHookContext, call_id: str | None) -> None:
    """A tool has given a result, or the host an apology for one that raised."""
    error = items.error_of(context.tool_name)
    if error is None:
        session.tool_result(context.tool_name, context.tool_result, call_id=call_id)
    else:
        session.tool_error(context.tool_name, error, call_id=call_id)


def ended(run: Run, context: ExecutionEndContext) -> None:
    """A kickoff is over. A hook that aborts it is the host's control flow, and no failure."""
    error = context.error
    if context.status == "completed":
        # What a flow gives need not be anyone's words, and that of an agent alone gives the name of its last state.
        output: Any = context.output.raw if context.crew is not None else None
        run.session.named(run.speaker).run_ended(output)
    elif error is None or isinstance(error, HookAborted):
        run.session.end()
    else:
        run.session.run_failed(error)
