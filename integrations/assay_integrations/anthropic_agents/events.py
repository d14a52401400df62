"""What the hooks of Claude agents mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from claude_agent_sdk import ResultError, ResultMessage

from assay.session import Session

__all__ = [
    "Given",
    "began",
    "broke",
    "by_host",
    "called",
    "ended",
    "failed",
    "plain",
    "result_failed",
    "returned",
    "stopped",
    "sub",
    "tool_name",
    "went_on",
]

Given = Mapping[str, Any]

# Tools that give a task to a sub-agent; `Task` is the older name.
_DELEGATES = ("Agent", "Task")
# Background work that reports back in a further turn; shells and monitors may run for ever.
_REPORTS_BACK = ("subagent", "workflow")
_PEOPLE = ("user", "sdk")
_HOST_PROMPTS = (
    "<task-notification>",
    "<teammate-message",
    "<cross-session-message",
    "<coordinator-task",
    "<channel",
    "Continue from where you left off.",
)


def by_host(given: Given) -> bool:
    """Tell whether the host made a prompt itself: to report on a task, relay a message, or go on after a pause."""
    return given.get("source", "sdk") not in _PEOPLE or str(given["prompt"]).startswith(_HOST_PROMPTS)


def sub(session: Session, given: Given) -> Session:
    """Give the session as the agent sees it that a hook is about."""
    return session.sub(given.get("agent_type")) if "agent_id" in given else session


def began(session: Session, given: Given) -> None:
    """The person has said something, and a run begins."""
    identity = given.get("prompt_id")
    session.run_started(id=identity)
    session.user_message(given["prompt"], id=identity)


def went_on(session: Session, given: Given) -> None:
    """The host has made a prompt: it belongs to the run that is open, if there is one."""
    if session.conversation.run is None:
        session.run_started(id=given.get("prompt_id"))


def called(session: Session, given: Given) -> None:
    """A tool is about to be called; one that gives a task to a sub-agent says what that one is to be briefed for."""
    name, arguments = tool_name(given["tool_name"]), cast("dict[str, Any]", given["tool_input"])
    sub(session, given).tool_call(name, arguments, call_id=given["tool_use_id"])
    if name in _DELEGATES:
        session.sub(arguments.get("subagent_type")).user_message(str(arguments.get("prompt", "")))


def returned(session: Session, given: Given) -> None:
    """A tool has given a result."""
    sub(session, given).tool_result(
        tool_name(given["tool_name"]), plain(given["tool_response"]), call_id=given["tool_use_id"]
    )


def broke(session: Session, given: Given) -> None:
    """A tool has failed; one that the person stopped has not."""
    if not given.get("is_interrupt"):
        sub(session, given).tool_error(tool_name(given["tool_name"]), str(given["error"]), call_id=given["tool_use_id"])


def stopped(session: Session, given: Given) -> None:
    """A sub-agent has answered."""
    if given.get("last_assistant_message"):
        sub(session, given).agent_message(given["last_assistant_message"])


def ended(session: Session, given: Given) -> None:
    """The agent has answered; the run goes on while a sub-agent in the background is to report back."""
    tasks = cast("Iterable[Given]", given.get("background_tasks") or ())
    if not any(task.get("type") in _REPORTS_BACK for task in tasks):
        session.run_ended(given.get("last_assistant_message"))
    elif given.get("last_assistant_message"):
        session.agent_message(given["last_assistant_message"])


def failed(session: Session, given: Given) -> None:
    """The model could not be reached, or gave an error."""
    session.run_failed(ResultError(str(given.get("last_assistant_message") or given.get("error"))))


def result_failed(session: Session, message: ResultMessage) -> None:
    """A run has ended in an error, such as a limit of turns that no hook sees; one that was interrupted has not."""
    if message.is_error and not (message.terminal_reason or "").startswith("aborted"):
        session.run_failed(ResultError("; ".join(message.errors or ()) or message.result or message.subtype))


def tool_name(name: str) -> str:
    """Give the name that a tool has for whoever wrote it: the host's says its server as well, `mcp__server__tool`."""
    return name.split("__", 2)[-1] if name.startswith("mcp__") else name


def plain(response: object) -> object:
    """Give a result as text where it is made of texts, and else as it is."""
    if not isinstance(response, list):
        return response
    blocks = cast("Sequence[object]", response)
    texts = [str(cast("Given", block)["text"]) for block in blocks if isinstance(block, dict) and "text" in block]
    return "\n".join(texts) if texts and len(texts) == len(blocks) else blocks
