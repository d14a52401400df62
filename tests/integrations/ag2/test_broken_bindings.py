"""A binding that breaks a rule of AG2 or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ag2.config import LLMClient
from ag2.events import ModelMessage, ModelRequest, ModelResponse, ToolErrorEvent, ToolResultEvent

from assay.session import Session, SessionKey, guard
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.autogen.ag2 import AssayMiddleware, middleware
from assay_integrations.autogen.ag2 import events as told
from assay_integrations.autogen.ag2.items import value, words

from .harness import AG2Harness

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class Breaks(AssayMiddleware):
    """A binding whose session is known, for those below that do something to it."""

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session


class OverlooksTools(Breaks):
    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        return await call_next(event, context)


class HearsTheModelTwice(Breaks):
    async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> Any:
        response = await super().on_llm_call(call_next, events, context)
        if response.content:
            self.session.agent_message(response.content)
        return response


class MakesResultsOfErrors(Breaks):
    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        result = await super().on_tool_execution(call_next, event, context)
        return ToolResultEvent.from_call(event, "It broke.") if isinstance(result, ToolErrorEvent) else result


class OverlooksErrors(Breaks):
    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        self.session.tool_call(event.name, event.serialized_arguments, call_id=event.id)
        result = await call_next(event, context)
        self.session.tool_result(event.name, value(result.result), call_id=event.id)
        return result


class WorksUnguarded(Breaks):
    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        await self.session.aio.user_message(str(event.parts))
        return await super().on_turn(call_next, event, context)


class GuardsTheHostsTurn(Breaks):
    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        response = ModelResponse(ModelMessage(""))
        with guard(self.session, "run_ended"):
            response = await super().on_turn(call_next, event, context)
        return response


class CallsCancellationAFailure(Breaks):
    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        try:
            return await super().on_turn(call_next, event, context)
        except BaseException as error:
            self.session.run_failed(RuntimeError(str(error)))
            raise


class EndsWaitingRuns(Breaks):
    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        response = await super().on_turn(call_next, event, context)
        self.session.run_ended("It waits.")
        return response


class EndsAbandonedRuns(Breaks):
    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        try:
            return await super().on_turn(call_next, event, context)
        finally:
            self.session.run_ended(None)


class BriefsTwice(Breaks):
    async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> Any:
        text = self.session.briefing().text
        more = [ModelRequest.ensure_request([f"{text}\n"])] if text else []
        return await super().on_llm_call(call_next, [*more, *events], context)


class BriefsInTheSystemText(Breaks):
    async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> Any:
        own, context.prompt = context.prompt, [*context.prompt, self.session.briefing().text]
        try:
            return await super().on_llm_call(call_next, events, context)
        finally:
            context.prompt = own


class KeepsTheBriefing(Breaks):
    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        text = self.session.briefing(words(event)).text
        if text:
            await context.stream.history.storage.save_event(ModelRequest.ensure_request([text]), context)
        return await super().on_turn(call_next, event, context)


class TouchesTheDiskOnTheLoop(Breaks):
    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        self.session.run_started()
        return await super().on_turn(call_next, event, context)


class ForgetsWhoSpeaks(Breaks):
    def __call__(self, event: Any, context: Any) -> Any:
        hooks = super().__call__(event, context)
        hooks._session = self._sessions.of_key(SessionKey("ada", "s1"))
        return hooks


class SharesItsHooks(Breaks):
    def __call__(self, event: Any, context: Any) -> Any:
        self._session = self._sessions.of_turn(context)
        return self


class TakesSubAgentsForTheRoot(Breaks):
    def __call__(self, event: Any, context: Any) -> Any:
        hooks = super().__call__(event, context)
        hooks._session = self._sessions._at(context)
        return hooks


class OverlooksItsOwnSubAgents(Breaks):
    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        told.used(self.session, event)
        result = await call_next(event, context)
        told.used(self.session, result)
        return result


class DropsTheUsersNext(Breaks):
    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        return await super().on_tool_execution(lambda event, context: _added(event), event, context)


async def _added(event: Any) -> ToolResultEvent:
    return ToolResultEvent.from_call(event, 3)


BROKEN: list[tuple[type[AssayMiddleware], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (HearsTheModelTwice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (MakesResultsOfErrors, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (OverlooksErrors, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (GuardsTheHostsTurn, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (CallsCancellationAFailure, AdapterContract.test_c13_cancellation_and_interrupts_pass_and_are_no_failures),
    (EndsWaitingRuns, AdapterContract.test_c06_a_resumed_run_records_its_interrupted_tool_once),
    (EndsAbandonedRuns, AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (BriefsInTheSystemText, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (TouchesTheDiskOnTheLoop, AdapterContract.test_c16_every_entry_gives_the_same),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (SharesItsHooks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (OverlooksItsOwnSubAgents, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (DropsTheUsersNext, AdapterContract.test_c22_the_users_own_hooks_run_as_before),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[type[AssayMiddleware]], Stage]]:
    stages: list[Stage] = []

    def make(binding: type[AssayMiddleware]) -> Stage:
        stages.append(Stage(AG2Harness(binding), tmp_path / "stage", {}))
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


def test_a_wrap_on_the_turns_own_stream_is_seen(
    stage_of: Callable[[type[AssayMiddleware]], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a client streams goes where its context says."""

    class ComposesInTheTurn(Breaks):
        async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
            async def ask(model: Any, prompt: str) -> str:
                client: LLMClient = model.create()
                given: dict[str, Any] = {"tools": (), "response_schema": None, "serializer": None}
                return (await client([ModelRequest.ensure_request([prompt])], context, **given)).content or ""

            monkeypatch.setattr(middleware, "acompose", ask)
            return await super().on_turn(call_next, event, context)

    with pytest.raises(AssertionError):
        CONTRACT.test_c11_a_wrap_leaves_no_trace(stage_of(ComposesInTheTurn))
