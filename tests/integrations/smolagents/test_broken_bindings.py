"""A binding that breaks a rule of smolagents or of the port turns the clause red that speaks of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from smolagents.memory import ActionStep, FinalAnswerStep

from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.smolagents import AssayAgentMemory, memory, steps
from assay_integrations.smolagents.place import Sessions

from .harness import SmolagentsHarness
from .test_contract import TestContract as OnSmolagents

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(AssayAgentMemory):
    def _heard(self, step: Any, agent: Any) -> None:
        if isinstance(step, ActionStep) and step.model_output_message is not None:
            calls = step.model_output_message.tool_calls or []
            step.model_output_message.tool_calls = [call for call in calls if call.function.name == "final_answer"]
        super()._heard(step, agent)


class ReadsOnlyWhatTheStepHolds(AssayAgentMemory):
    def _heard(self, step: Any, agent: Any) -> None:
        if isinstance(step, ActionStep) and step.error is not None:
            step.model_output_message = None
        super()._heard(step, agent)


class HearsAStepTwice(AssayAgentMemory):
    def _heard(self, step: Any, agent: Any) -> None:
        session = self._session
        super()._heard(step, agent)
        if session is not None and isinstance(step, FinalAnswerStep):
            session.agent_message(str(step.output))


class ChangesTheAnswer(AssayAgentMemory):
    def _heard(self, step: Any, agent: Any) -> None:
        super()._heard(step, agent)
        if isinstance(step, FinalAnswerStep):
            step.output = f"{step.output}!"


class SwallowsToolErrors(AssayAgentMemory):
    def _heard(self, step: Any, agent: Any) -> None:
        super()._heard(step, agent)
        if isinstance(step, ActionStep):
            step.error = None


class WorksUnguarded(AssayAgentMemory):
    def _begin(self, agent: Any) -> None:
        super()._begin(agent)
        assert self._session is not None
        self._session.briefing("anything")


class OverlooksFailures(AssayAgentMemory):
    def _heard(self, step: Any, agent: Any) -> None:
        self._around = sys.exc_info()[1]
        super()._heard(step, agent)


class EndsAbandonedRuns(AssayAgentMemory):
    def _heard(self, step: Any, agent: Any) -> None:
        session = self._session
        super()._heard(step, agent)
        if isinstance(sys.exc_info()[1], GeneratorExit) and session is not None:
            session.run_ended(None)


class BriefsTwice(AssayAgentMemory):
    def _briefed(self, session: Any, prompt: str) -> str:
        super()._briefed(session, prompt)
        return f"{prompt}{session.briefing().text}"


class BriefsTheSystem(AssayAgentMemory):
    def _briefed(self, session: Any, prompt: str) -> str:
        return f"{prompt}{session.briefing().text}"


class KeepsTheBriefing(AssayAgentMemory):
    def _briefed(self, session: Any, prompt: str) -> str:
        task: Any = self.steps[-1]
        task.task = f"{session.briefing().text}\n{task.task}"
        return prompt


class LetsTheAgentCompose(AssayAgentMemory):
    def _end(self, session: Any, step: Any) -> None:
        agent: Any = self._agent
        session.run_ended(step.output)
        prompts: list[str] = []

        def ask(prompt: str) -> str:
            prompts.append(prompt)
            answer = agent.model.generate([{"role": "user", "content": prompt}]).content
            self.steps.append(ActionStep(1, None, observations=answer))  # type: ignore[arg-type]
            return str(answer)

        session.wrap(ask)


class ForgetsToLeave(AssayAgentMemory):
    def _leave(self) -> None:
        """Stay."""


class SubAgentsAreRoots(Sessions):
    def _of_run(self, agent: str | None) -> Any:
        return self.of_key(self.key)


class TakesSubAgentsForTheRoot(AssayAgentMemory):
    def attach(self, agent: Any) -> Any:
        self._sessions.__class__ = SubAgentsAreRoots
        return super().attach(agent)


class OneStoreForAll(AssayAgentMemory):
    def __init__(self, target: Any, *, user: Any = None, **more: Any) -> None:
        super().__init__(target, user=user and "ada", **more)


BROKEN: list[tuple[type[AssayAgentMemory], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (HearsAStepTwice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (ReadsOnlyWhatTheStepHolds, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (SwallowsToolErrors, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (ChangesTheAnswer, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (OverlooksFailures, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (EndsAbandonedRuns, AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (BriefsTheSystem, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (LetsTheAgentCompose, AdapterContract.test_c11_a_wrap_leaves_no_trace),
    (ForgetsToLeave, AdapterContract.test_c21_detaching_leaves_nothing),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (OneStoreForAll, AdapterContract.test_c15_users_stay_apart),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[type[AssayAgentMemory]], Stage]]:
    stages: list[tuple[SmolagentsHarness, Stage]] = []

    def make(binding: type[AssayAgentMemory]) -> Stage:
        harness = SmolagentsHarness(binding)
        stages.append((harness, Stage(harness, tmp_path / "stage", OnSmolagents.lacks)))
        return stages[-1][1]

    yield make
    for harness, stage in stages:
        harness.close()
        stage.close()


@pytest.mark.parametrize(("binding", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(
    stage_of: Callable[[type[AssayAgentMemory]], Stage],
    monkeypatch: pytest.MonkeyPatch,
    binding: type[AssayAgentMemory],
    clause: Clause,
) -> None:
    monkeypatch.setattr(memory, "AssayAgentMemory", binding)  # for the agents that another one manages
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(binding))


def test_callbacks_that_come_in_the_place_of_the_users_are_seen(
    stage_of: Callable[[type[AssayAgentMemory]], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def callback(self: Any, memory_step: Any, **kwargs: Any) -> None:
        self._heard(memory_step, kwargs["agent"])

    monkeypatch.setattr(steps.Callbacks, "callback", callback)
    with pytest.raises(AssertionError):
        CONTRACT.test_c22_the_users_own_hooks_run_as_before(stage_of(AssayAgentMemory))
