"""A binding that breaks a rule of Pydantic AI or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import CallDeferred, ModelRetry
from pydantic_ai.messages import ModelRequest, UserPromptPart

from assay.session import SessionKey, guard
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.pydantic_ai import AssayCapability, capability, events

from .harness import PydanticAIHarness

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(AssayCapability):
    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        return await handler(args)


class HearsTheModelTwice(AssayCapability):
    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:
        response = await super().wrap_model_request(ctx, request_context=request_context, handler=handler)
        assert self._session is not None
        events.said(self._session, response)
        return response


class TurnsToolErrorsIntoResults(AssayCapability):
    async def wrap_tool_execute(self, ctx: Any, **given: Any) -> Any:
        try:
            return await super().wrap_tool_execute(ctx, **given)
        except RuntimeError as error:
            return str(error)


class CatchesControlFlow(AssayCapability):
    async def wrap_tool_execute(self, ctx: Any, **given: Any) -> Any:
        try:
            return await super().wrap_tool_execute(ctx, **given)
        except CallDeferred as signal:
            return str(signal)


class CallsRetriesFailures(AssayCapability):
    async def wrap_tool_execute(self, ctx: Any, *, call: Any, handler: Any, **given: Any) -> Any:
        async def watched(args: Any) -> Any:
            try:
                return await handler(args)
            except Exception as signal:
                if isinstance(signal.__cause__, ModelRetry):
                    assert self._session is not None
                    self._session.tool_error(call.tool_name, signal, call_id=call.tool_call_id)
                raise

        return await super().wrap_tool_execute(ctx, call=call, handler=watched, **given)


class WorksUnguarded(AssayCapability):
    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        assert self._session is not None
        await self._session.aio.user_message(ctx.prompt)
        return await super().wrap_run(ctx, handler=handler)


class GuardsTheHostsHandler(AssayCapability):
    async def wrap_tool_execute(self, ctx: Any, **given: Any) -> Any:
        assert self._session is not None
        result: Any = ""
        with guard(self._session, "tool_result"):
            result = await super().wrap_tool_execute(ctx, **given)
        return result


class EndsWaitingRuns(AssayCapability):
    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        assert self._session is not None
        result = await super().wrap_run(ctx, handler=handler)
        self._session.run_ended("It waits.")
        return result


class EndsAbandonedRuns(AssayCapability):
    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        assert self._session is not None
        try:
            return await super().wrap_run(ctx, handler=handler)
        finally:
            self._session.run_ended(None)


class BriefsTwice(AssayCapability):
    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        assert self._session is not None
        request_context = await super().prepare_model_request(ctx, request_context)
        return await events.briefed(self._session, request_context)


class KeepsTheBriefing(AssayCapability):
    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        assert self._session is not None
        text = self._session.briefing().text
        if text:
            message = ModelRequest([UserPromptPart(text)])
            ctx.messages.insert(0, message)
            return replace(request_context, messages=[message, *request_context.messages])
        return request_context


class TouchesTheDiskOnTheLoop(AssayCapability):
    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        assert self._session is not None
        self._session.run_started()
        return await super().wrap_run(ctx, handler=handler)


class ForgetsWhoSpeaks(AssayCapability):
    async def for_run(self, ctx: Any) -> AssayCapability:
        hooks = await super().for_run(ctx)
        hooks._session = self._sessions.of_key(SessionKey("ada", "s1"))
        return hooks


class SharesItsHooks(AssayCapability):
    async def for_run(self, ctx: Any) -> AssayCapability:
        self._session, _ = self._sessions.of_run(ctx)
        return self


class TakesSubAgentsForTheRoot(AssayCapability):
    async def for_run(self, ctx: Any) -> AssayCapability:
        hooks = await super().for_run(ctx)
        hooks._session = self._sessions._at(ctx)
        return hooks


class OverlooksHandOffs(AssayCapability):
    async def wrap_output_process(self, ctx: Any, *, output_context: Any, output: Any, handler: Any) -> Any:
        return await handler(output)


BROKEN: list[tuple[type[AssayCapability], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (HearsTheModelTwice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (TurnsToolErrorsIntoResults, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (CatchesControlFlow, AdapterContract.test_c13_the_hosts_own_signals_pass_and_are_no_failures),
    (CallsRetriesFailures, AdapterContract.test_c13_the_hosts_own_signals_pass_and_are_no_failures),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (GuardsTheHostsHandler, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (EndsWaitingRuns, AdapterContract.test_c06_a_resumed_run_records_its_interrupted_tool_once),
    (EndsAbandonedRuns, AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (TouchesTheDiskOnTheLoop, AdapterContract.test_c16_every_entry_gives_the_same),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (SharesItsHooks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (OverlooksHandOffs, AdapterContract.test_c07_a_handoff_is_recorded_once),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[type[AssayCapability]], Stage]]:
    stages: list[Stage] = []

    def make(binding: type[AssayCapability]) -> Stage:
        stages.append(Stage(PydanticAIHarness(binding), tmp_path / "stage", {}))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("binding", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(
    stage_of: Callable[[type[AssayCapability]], Stage], binding: type[AssayCapability], clause: Clause
) -> None:
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(binding))


def test_a_wrap_in_the_run_itself_is_seen(
    stage_of: Callable[[type[AssayCapability]], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a binding that lets the agent, not its model, write the continuity."""

    class AsksTheAgent(AssayCapability):
        async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
            async def ask(model: Any, prompt: str) -> str:
                return str((await ctx.agent.run(prompt, deps=ctx.deps, usage=ctx.usage)).output)

            monkeypatch.setattr(capability, "acompose", ask)
            return await super().wrap_run(ctx, handler=handler)

    with pytest.raises(AssertionError):
        CONTRACT.test_c11_a_wrap_leaves_no_trace(stage_of(AsksTheAgent))
