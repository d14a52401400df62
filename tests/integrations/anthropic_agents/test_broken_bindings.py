"""A binding that breaks a rule of the SDK or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions

from assay.session import SessionKey, guard
from assay.testing import AdapterContract, Harness
from assay.testing.stage import Stage
from assay_integrations.anthropic_agents import AssayHooks, composing

from .harness import ClaudeHarness
from .test_contract import TestContract as Contract

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(AssayHooks):
    async def _heard(self, given: Any, options: Any) -> Any:
        return {} if "tool_name" in given else await super()._heard(given, options)


class OverlooksToolErrors(AssayHooks):
    async def _heard(self, given: Any, options: Any) -> Any:
        if given["hook_event_name"] == "PostToolUseFailure":
            given = given | {"hook_event_name": "PostToolUse", "tool_response": given["error"]}
        return await super()._heard(given, options)


class OverlooksFailures(AssayHooks):
    async def _heard(self, given: Any, options: Any) -> Any:
        return {} if given["hook_event_name"] == "StopFailure" else await super()._heard(given, options)

    async def failed(self, error: Any) -> None: ...


class BriefsTwice(AssayHooks):
    async def _heard(self, given: Any, options: Any) -> Any:
        answer: Any = await super()._heard(given, options)
        if "hookSpecificOutput" in answer:
            answer["hookSpecificOutput"]["additionalContext"] *= 2
        return answer


class NeverBriefs(AssayHooks):
    async def _heard(self, given: Any, options: Any) -> Any:
        await super()._heard(given, options)
        return {}


class StopsTheHost(AssayHooks):
    async def _heard(self, given: Any, options: Any) -> Any:
        answer = await super()._heard(given, options)
        stops = given["hook_event_name"] == "PreToolUse"
        return {"hookSpecificOutput": {"permissionDecision": "defer"}} if stops else answer


class DropsTheUsersHooks(AssayHooks):
    def attach(self, options: Any = None) -> Any:
        attached = super().attach(options)
        attached.hooks = {event: matchers[-1:] for event, matchers in (attached.hooks or {}).items()}
        return attached


class WorksOnTheLoop(AssayHooks):
    async def _heard(self, given: Any, options: Any) -> Any:
        session = self._sessions.of_hook(given)
        assert session is not None
        with guard(session, "briefing"):
            session.briefing("anything")
        return await super()._heard(given, options)


class ForgetsWhoSpeaks(AssayHooks):
    def __init__(self, target: Any, *, user: Any, **options: Any) -> None:
        super().__init__(target, user="ada", **options)
        self._sessions.of_hook = lambda _: self._sessions.of_key(SessionKey("ada", "s1"))  # type: ignore[method-assign, assignment]


class TakesSubAgentsForTheRoot(AssayHooks):
    async def _heard(self, given: Any, options: Any) -> Any:
        given = {name: value for name, value in given.items() if name != "agent_id"}
        return await super()._heard(given, options)


class WrapsInTheConversation(AssayHooks):
    async def wrap(self) -> None:
        transport: Any = self._compose.args[0]
        self._compose = partial(composing.compose, lambda _: transport(ClaudeAgentOptions()))
        await super().wrap()


BROKEN: list[tuple[type[AssayHooks], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (OverlooksToolErrors, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (OverlooksFailures, Contract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (NeverBriefs, AdapterContract.test_c09_a_new_session_is_briefed_with_what_an_earlier_one_recorded),
    (StopsTheHost, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (DropsTheUsersHooks, AdapterContract.test_c22_the_users_own_hooks_run_as_before),
    (DropsTheUsersHooks, AdapterContract.test_c06_a_resumed_run_records_its_interrupted_tool_once),
    (WorksOnTheLoop, AdapterContract.test_c16_every_entry_gives_the_same),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (WrapsInTheConversation, AdapterContract.test_c11_a_wrap_leaves_no_trace),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[type[AssayHooks]], Stage]]:
    stages: list[Stage] = []

    def make(binding: type[AssayHooks]) -> Stage:
        harness: Harness[Any] = ClaudeHarness(binding)
        stages.append(Stage(harness, tmp_path / "stage", Contract.lacks))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("binding", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(
    stage_of: Callable[[type[AssayHooks]], Stage], binding: type[AssayHooks], clause: Clause
) -> None:
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(binding))
