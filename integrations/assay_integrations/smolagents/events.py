"""What the steps of smolagents mean to a memory: each function tells a session what one step has shown."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.session import Session
from assay_integrations.smolagents.items import plain, spoken, text_of, words
from assay_integrations.smolagents.uses import Use, taken
from smolagents.memory import ActionStep, PlanningStep
from smolagents.models import parse_json_if_needed
from smolagents.utils import AgentGenerationError

__all__ = ["acted", "began", "ended", "failed", "planned"]

# The tool by which an agent gives its answer: the answer is the run's.
_ANSWER = "final_answer"


def began(session: Session, task: str) -> None:
    """A run begins, with what the person said."""
    session.run_started()
    session.user_message(words(task))


def planned(session: Session, step: PlanningStep) -> None:
    """A model has written a plan."""
    session.agent_message(text_of(step.model_output_message))


def acted(session: Session, step: ActionStep, uses: list[Use], opening: str) -> None:
    """A model has answered, and what it asked for was done, or has failed."""
    said = spoken(step, opening)
    if said:
        session.agent_message(said)
    if step.code_action is not None:
        _ran_code(session, step, uses)
        return
    message = step.model_output_message
    for call in (message.tool_calls if message is not None else None) or ():
        given: Any = parse_json_if_needed(call.function.arguments)
        use = taken(uses, call.function.name, given)
        if use.name != _ANSWER:
            _used(session, use, given, call.id, step.error)


def ended(session: Session, output: Any) -> None:
    """A run has given its output."""
    session.run_ended(plain(output))


def failed(session: Session, error: BaseException) -> None:
    """A run has raised. What the host raises for a model's error has that error as its cause."""
    cause = error.__cause__ if isinstance(error, AgentGenerationError) else None
    session.run_failed(cause or error)


def _used(session: Session, use: Use, given: object, call_id: str | None, error: Exception | None) -> None:
    """A tool was called; without a use, the host has not found it or has refused its arguments."""
    session.tool_call(use.name, given, call_id=call_id)
    if use.done:
        session.tool_result(use.name, plain(use.result), call_id=call_id)
    elif use.error or error:
        session.tool_error(use.name, use.error or error or "", call_id=call_id)


def _ran_code(session: Session, step: ActionStep, uses: Sequence[Use]) -> None:
    """An agent has run code; a tool inside it that ends it has failed in place of the code."""
    for code in step.tool_calls or ():
        session.tool_call(code.name, code.arguments, call_id=code.id)
        for use in uses:
            if use.name != _ANSWER:
                _used(session, use, use.given, None, None)
        if step.error is not None and not (uses and uses[-1].error):
            session.tool_error(code.name, step.error, call_id=code.id)
        elif step.observations is not None:
            session.tool_result(code.name, step.observations, call_id=code.id)
