"""What a workforce of CAMEL does, as one run of a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from camel.societies.workforce import events as happened
from camel.societies.workforce.workforce_callback import WorkforceCallback

from assay.session import Session
from assay_integrations.camel_ai import events
from assay_integrations.camel_ai.memory import AssayAgentMemory

__all__ = ["AssayWorkforceCallback"]


class AssayWorkforceCallback(WorkforceCallback):
    """Records the tasks of a workforce: what it was asked, and what each worker was given and gave back.

    A worker that is to remember gets `memory.sub(...)`: its own words are recorded under its name then.

    Args:
        memory: Says whose workforce it is, and in which session.

    Example:
        memory = AssayAgentMemory("memory/{user}.db", user="ada", session="monday")
        writer = AssayChatAgent("You write.", model=model, memory=memory.sub("writer"))
        workforce = Workforce("team", callbacks=[AssayWorkforceCallback(memory)])
        workforce.add_single_agent_worker("writer", worker=writer)
    """

    def __init__(self, memory: AssayAgentMemory) -> None:
        self._seat = memory.seat.again()
        self._roles: dict[str, str] = {}
        self._tasks: dict[str, str] = {}
        self._asked: set[str] = set()

    def log_worker_created(self, event: happened.WorkerCreatedEvent) -> None:
        """Learn what a worker is called."""
        self._roles[event.worker_id] = event.role

    def log_task_created(self, event: happened.TaskCreatedEvent) -> None:
        """Begin a run with a task that comes from outside; one that the workforce has made stands in its call."""
        self._tasks[event.task_id] = event.description
        if event.parent_task_id is None:
            self._asked.add(event.task_id)
            self._seat.enter(whole=True)
            self._tell("run_started", partial(events.asked, text=event.description))

    def log_task_assigned(self, event: happened.TaskAssignedEvent) -> None:
        """Record that a worker is given a task: to a memory, workers are tools."""
        role, task = self._role(event.worker_id), self._tasks.get(event.task_id, event.task_id)
        self._tell("tool_call", lambda session: session.tool_call(role, {"task": task}, call_id=event.task_id))

    def log_task_completed(self, event: happened.TaskCompletedEvent) -> None:
        """Record what a worker gives back, or the workforce as a whole."""
        role, result = self._role(event.worker_id), event.result_summary or ""
        if event.task_id in self._asked:
            self._tell("agent_message", lambda session: session.agent_message(result))
        else:
            self._tell("tool_result", lambda session: session.tool_result(role, result, call_id=event.task_id))

    def log_task_failed(self, event: happened.TaskFailedEvent) -> None:
        """Record how a worker failed, or the workforce as a whole."""
        role, error = self._role(event.worker_id), event.error_message
        if event.task_id in self._asked:
            self._tell("run_failed", lambda session: session.run_failed(RuntimeError(error)))
        else:
            self._tell("tool_error", lambda session: session.tool_error(role, error, call_id=event.task_id))

    def log_all_tasks_completed(self, event: happened.AllTasksCompletedEvent) -> None:
        """Close the run; a `WrapPolicy` with a model of its own may consolidate."""
        self._tell("run_ended", events.ended)

    def log_message(self, event: happened.LogEvent) -> None:
        """Leave out what the workforce prints."""

    def log_task_decomposed(self, event: happened.TaskDecomposedEvent) -> None:
        """Leave out that a task has parts: each part is told as it is created."""

    def log_task_started(self, event: happened.TaskStartedEvent) -> None:
        """Leave out the beginning: a task was assigned before."""

    def log_task_updated(self, event: happened.TaskUpdatedEvent) -> None:
        """Take in the new words of a task that was planned anew."""
        if event.update_type == "replan" and event.new_value:
            self._tasks[event.task_id] = event.new_value

    def log_worker_deleted(self, event: happened.WorkerDeletedEvent) -> None:
        """Forget what a worker was called."""
        self._roles.pop(event.worker_id, None)

    def _role(self, worker: str | None) -> str:
        return self._roles.get(worker or "", worker or "worker")

    def _tell(self, code: str, event: Callable[[Session], None]) -> None:
        if self._seat.step is not None:
            self._seat.step.tell(code, event)
