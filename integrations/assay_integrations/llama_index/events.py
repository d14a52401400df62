"""What the steps of LlamaIndex mean to a memory: each function tells a run what one step has shown."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from workflows.errors import WorkflowCancelledByUser

from assay.session import Session, guard
from assay_integrations.llama_index.items import words
from assay_integrations.llama_index.place import Run
from llama_index.core.agent.workflow import ToolCall
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.llms import ChatMessage

__all__ = ["began", "called", "ended", "failed", "returned", "said", "turned"]

# The tool by which an agent gives the conversation to another: who takes over is told when its turn comes.
_HANDOFF = "handoff"


def began(session: Session, text: str, run: str | None) -> str:
    """A run begins, with what the person says: give the block that its calls of a model receive."""
    with guard(session, "run_started"):
        session.run_started(id=run)
        session.user_message(text)
    return guard.value(session, lambda: session.briefing().text, "")


def turned(run: Run, agent: str) -> None:
    """An agent's model is about to be called; it may be another agent than before."""
    before, run.speaker = run.speaker, agent
    if before is not None and before != agent:
        run.tell("handoff", lambda session: session.handoff(before, agent))


def said(run: Run, message: ChatMessage) -> None:
    """A model has answered."""
    run.said = words(message)
    if run.said:
        run.tell("agent_message", partial(_said, text=run.said))


def called(run: Run, call: ToolCall) -> None:
    """A tool is about to be run."""
    given: Any = cast("Any", call).tool_kwargs
    if call.tool_name != _HANDOFF:
        run.tell("tool_call", lambda session: session.tool_call(call.tool_name, given, call_id=call.tool_id))


def returned(run: Run, result: ToolCallResult) -> None:
    """A tool has given a result, or has failed."""
    name, call_id, output = result.tool_name, result.tool_id, result.tool_output
    run.returned = text = str(output.content)
    if name == _HANDOFF:
        return
    if output.is_error:
        error = output.exception or text
        run.tell("tool_error", lambda session: session.tool_error(name, error, call_id=call_id))
    else:
        run.tell("tool_result", lambda session: session.tool_result(name, text, call_id=call_id))


def ended(run: Run, answer: ChatMessage | None = None) -> None:
    """A run is over; its answer may be none that a model has just given, but never what a tool gave."""
    run.over = True
    text = "" if answer is None else words(answer)
    known = not text or text == run.returned or run.said.endswith(text)
    run.tell("run_ended", lambda session: session.run_ended(None if known else text))


def failed(run: Run, error: BaseException | None) -> None:
    """A run has raised: told here and now, because nothing waits for it any more."""
    with guard(run.session, "run_failed"):
        run.relay.flush()
        if isinstance(error, Exception) and not isinstance(error, WorkflowCancelledByUser):
            run.session.run_failed(error)


def _said(session: Session, text: str) -> None:
    session.agent_message(text)
