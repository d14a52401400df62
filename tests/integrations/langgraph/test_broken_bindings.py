"""A binding that breaks a rule of LangGraph or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp

from assay.session import SessionKey, guard
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.langgraph import AssayMiddleware, composing, events

from .harness import LangGraphHarness

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(AssayMiddleware):
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)


class HearsTheModelTwice(AssayMiddleware):
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return super().wrap_model_call(
            request, lambda given: super(HearsTheModelTwice, self).wrap_model_call(given, handler)
        )


class TurnsToolErrorsIntoMessages(AssayMiddleware):
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return super().wrap_tool_call(request, handler)
        except GraphBubbleUp:
            raise
        except Exception as error:
            return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")


class CatchesControlFlow(AssayMiddleware):
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return super().wrap_tool_call(request, handler)
        except GraphBubbleUp as signal:
            return ToolMessage(str(signal), tool_call_id=request.tool_call["id"])


class CallsInterruptsFailures(AssayMiddleware):
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return super().wrap_tool_call(request, handler)
        except GraphBubbleUp as signal:
            session = self._session_of(request)
            assert session is not None
            session.tool_error("signal", signal, call_id="c1")
            raise


class WorksUnguarded(AssayMiddleware):
    def before_agent(self, state: Any, runtime: Any) -> None:
        session = self._sessions.of_agent(runtime.context, state["messages"])
        assert session is not None
        events.began(session, state["messages"])


class GuardsTheHostsHandler(AssayMiddleware):
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        session = self._sessions.of_agent(request.runtime.context, request.messages)
        assert session is not None
        response: Any = ToolMessage("", tool_call_id="")
        with guard(session, "agent_message"):
            response = super().wrap_model_call(request, handler)
        return response


class BriefsTwice(AssayMiddleware):
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        def again(given: Any) -> Any:
            session = self._sessions.of_agent(request.runtime.context, request.messages)
            assert session is not None
            place, asks = events.question(session, given.messages)
            return handler(events.briefed(session, given, place, session.briefing(asks).text))

        return super().wrap_model_call(request, again)


class KeepsTheBriefing(AssayMiddleware):
    def before_model(self, state: Any, runtime: Any) -> Any:
        session = self._sessions.of_agent(runtime.context, state["messages"])
        assert session is not None
        text = session.briefing().text
        return {"messages": [HumanMessage(text)]} if text else None


class HasNoTwins(AssayMiddleware):
    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        self.before_agent(state, runtime)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        self.after_agent(state, runtime)


class ForgetsWhoSpeaks(AssayMiddleware):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self._sessions.of_agent = lambda *_: self._sessions.of_key(SessionKey("ada", "s1"))  # type: ignore[method-assign]


class TakesSubAgentsForTheRoot(AssayMiddleware):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self._sessions.of_agent = self._sessions.of_tool  # type: ignore[method-assign]


BROKEN: list[tuple[type[AssayMiddleware], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (HearsTheModelTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (TurnsToolErrorsIntoMessages, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (CatchesControlFlow, AdapterContract.test_c06_a_resumed_run_records_its_interrupted_tool_once),
    (CatchesControlFlow, AdapterContract.test_c13_the_hosts_own_signals_pass_and_are_no_failures),
    (CallsInterruptsFailures, AdapterContract.test_c13_the_hosts_own_signals_pass_and_are_no_failures),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (GuardsTheHostsHandler, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (HasNoTwins, AdapterContract.test_c16_every_entry_gives_the_same),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[type[AssayMiddleware]], Stage]]:
    stages: list[Stage] = []

    def make(binding: type[AssayMiddleware]) -> Stage:
        stages.append(Stage(LangGraphHarness(binding), tmp_path / "stage", {}))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("binding", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(
    stage_of: Callable[[type[AssayMiddleware]], Stage], binding: type[AssayMiddleware], clause: Clause
) -> None:
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(binding))


def test_a_wrap_with_the_callbacks_of_the_run_is_seen(
    stage_of: Callable[[type[AssayMiddleware]], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(composing._UNSEEN, "callbacks", None)
    with pytest.raises(AssertionError):
        CONTRACT.test_c11_a_wrap_leaves_no_trace(stage_of(AssayMiddleware))
