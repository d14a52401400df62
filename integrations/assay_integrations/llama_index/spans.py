"""Hears the steps of runs that have a memory: LlamaIndex tells of them in spans, and of tools nowhere else."""

from __future__ import annotations

import inspect
import threading
from contextvars import ContextVar
from typing import Any

from llama_index_instrumentation import root_dispatcher

from assay.session import guard
from assay_integrations.llama_index import events
from assay_integrations.llama_index.place import Run, run_id
from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.llms import LLM

__all__ = ["agent_name", "found", "heard"]

_UUID = 37  # a span is named by class and method, a hyphen, and a UUID
_lock = threading.Lock()
_runs: dict[str, Run] = {}
_agent: ContextVar[str | None] = ContextVar("assay_llama_index_agent", default=None)


def heard(run: str, what: Run) -> None:
    """Hear a run from now on, until it is over."""
    with _lock:
        for stale in [one for one, known in _runs.items() if known.loop is not None and known.loop.is_closed()]:
            del _runs[stale]
        _runs[run] = what
        _put(_handler)


def found(run: str | None) -> Run | None:
    """Give a run that is heard."""
    return None if run is None else _runs.get(run)


def agent_name() -> str | None:
    """Name the agent whose run begins in this task, if that can be known."""
    return _agent.get()


def _forget(what: Run) -> None:
    with _lock:
        for one in [one for one, known in _runs.items() if known is what]:
            del _runs[one]
        if not _runs:
            _put()


def _put(*ours: _SpanHandler) -> None:
    """Put our handler behind those of others; the host may be walking the list, so it is replaced, never changed."""
    dispatcher: Any = root_dispatcher
    dispatcher.span_handlers = [one for one in dispatcher.span_handlers if one is not _handler] + [*ours]


class _SpanHandler(BaseSpanHandler[BaseSpan]):
    """Keeps no spans; a step is a method of a workflow, told of before, after, and when it raises."""

    def new_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        step = _step(id_)
        if step == "run":
            _agent.set(getattr(instance, "root_agent", None) or getattr(instance, "name", None))
        run = found(run_id())
        if run is None:
            return
        with guard(run.session, "span"):
            if isinstance(instance, LLM):
                run.sessions.keep_model(run.session, instance)
            elif step == "setup_agent":
                run.root = run.root or parent_span_id
                events.turned(run, bound_args.arguments["ev"].current_agent_name)
            elif step == "call_tool":
                events.called(run, bound_args.arguments["ev"])
                run.calls[id_] = run.sessions.calling(run.session.named(run.speaker))
                run.calls[id_].__enter__()

    def prepare_to_exit_span(
        self, id_: str, bound_args: inspect.BoundArguments, instance: Any = None, result: Any = None, **kwargs: Any
    ) -> None:
        self._left(id_)
        run = found(run_id())
        if run is not None and isinstance(result, (AgentOutput, ToolCallResult)):
            with guard(run.session, "span"):
                if _step(id_) == "run_agent_step" and isinstance(result, AgentOutput):
                    events.said(run, result.response)
                elif _step(id_) == "call_tool" and isinstance(result, ToolCallResult):
                    events.returned(run, result)
        whole = _rooted(id_)
        if whole is not None:
            with guard(whole.session, "span"):
                output = getattr(result, "result", None)
                if isinstance(output, AgentOutput) and not whole.over:
                    events.ended(whole, output.response)
            _forget(whole)

    def prepare_to_drop_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> None:
        self._left(id_)
        # Before its first step is over, nothing tells which span is the run's.
        whole = found(run_id()) if _step(id_) == "init_run" else _rooted(id_)
        if whole is not None:
            with guard(whole.session, "span"):
                events.failed(whole, err)
            _forget(whole)

    def _left(self, id_: str) -> None:
        """Leave a tool, in the task that has entered it."""
        run = found(run_id())
        call = None if run is None else run.calls.pop(id_, None)
        if call is not None:
            call.__exit__(None, None, None)


_handler = _SpanHandler()


def _step(id_: str) -> str:
    return id_[:-_UUID].rpartition(".")[2]


def _rooted(id_: str) -> Run | None:
    return next((run for run in list(_runs.values()) if run.root == id_), None)
