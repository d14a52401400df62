"""A binding that breaks a rule of CrewAI or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from crewai.hooks import InterceptionPoint, unregister_hook

from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.crewai import hooks, items, listener
from assay_integrations.crewai.hooks import MemoryHooks
from assay_integrations.crewai.place import Sessions

from .harness import Block, CrewAIHarness, Listener
from .test_contract import OnCrewAI

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(MemoryHooks):
    def post_tool_call(self, context: Any) -> None:
        self.sessions.leave_tool("main", context.tool_input)


class TakesApologiesForResults(MemoryHooks):
    def post_tool_call(self, context: Any) -> None:
        called = self.sessions.leave_tool("main", context.tool_input)
        if called is not None:
            called[0].tool_result(context.tool_name, context.tool_result, call_id=called[1])


class HearsWhatIsSaidTwice(MemoryHooks):
    def post_model_call(self, context: Any) -> None:
        super().post_model_call(context)
        super().post_model_call(context)


class BriefsTwice(MemoryHooks):
    def pre_model_call(self, context: Any) -> None:
        super().pre_model_call(context)
        block = next((text for run in [self.sessions.run] if run for text in run.blocks), None)
        if block:
            context.messages.insert(1, {"role": "user", "content": block})


class KeepsAdding(MemoryHooks):
    def pre_tool_call(self, context: Any) -> None:
        if self.sessions.run:
            self.sessions.run.blocks.clear()
        super().pre_tool_call(context)


class LeavesItsBlock(MemoryHooks):
    def post_model_call(self, context: Any) -> None:
        if self.sessions.run:
            self.sessions.run.blocks.clear()
        super().post_model_call(context)


class ChangesTheAnswer(MemoryHooks):
    def points(self) -> Any:
        return {**super().points(), InterceptionPoint.POST_MODEL_CALL: lambda context: f"{context.response}!"}


class BlocksTools(MemoryHooks):
    def pre_tool_call(self, context: Any) -> Any:
        super().pre_tool_call(context)
        return False


class StopsWhenItFails(MemoryHooks):
    def pre_model_call(self, context: Any) -> Any:
        session = self.sessions.of_agent("main")
        try:
            if session is not None:
                session.briefing()
        except Exception:
            return False
        super().pre_model_call(context)
        return None


class TakesFailuresForEnds(MemoryHooks):
    def execution_end(self, context: Any) -> None:
        context.status, context.error = "failed", None
        super().execution_end(context)


class OneSessionForAll(Sessions):
    keys: ClassVar[list[Any]] = []

    def of_key(self, key: Any, **more: Any) -> Any:
        self.keys.append(key)
        return super().of_key(self.keys[0], **more)


class ForgetsWhoSpeaks(MemoryHooks):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self.sessions.__class__ = OneSessionForAll


class SubAgentsAreRoots(Sessions):
    def of_agent(self, agent: Any) -> Any:
        run = self.run
        return None if run is None else run.session.named(agent)

    def begin(self, of: Any, agent: Any = None) -> Any:
        return super().begin(of)

    def enter_tool(self, agent: Any, given: Any) -> Any:
        called = super().enter_tool(agent, given)
        if called is not None:
            self._stand(self._place.call.around)  # type: ignore[union-attr]
        return called


class TakesSubAgentsForTheRoot(MemoryHooks):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self.sessions.__class__ = SubAgentsAreRoots


BROKEN: list[tuple[type[MemoryHooks], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (TakesApologiesForResults, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (HearsWhatIsSaidTwice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (KeepsAdding, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (LeavesItsBlock, AdapterContract.test_c03_the_host_keeps_no_copy),
    (ChangesTheAnswer, AdapterContract.test_c12_an_engine_that_fails_altogether_changes_nothing),
    (BlocksTools, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (StopsWhenItFails, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (TakesFailuresForEnds, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[Any], Stage]]:
    stages: list[tuple[CrewAIHarness, Stage]] = []

    def make(door: Any) -> Stage:
        harness = CrewAIHarness(door)
        stages.append((harness, Stage(harness, tmp_path / "stage", OnCrewAI.lacks)))
        return stages[-1][1]

    yield make
    for harness, stage in stages:
        harness.close()
        stage.close()


@pytest.mark.parametrize(("binding", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(
    stage_of: Callable[[Any], Stage],
    monkeypatch: pytest.MonkeyPatch,
    binding: type[MemoryHooks],
    clause: Clause,
) -> None:
    monkeypatch.setattr(listener, "MemoryHooks", binding)
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(Block))


def test_a_listener_that_forgets_to_uninstall_is_seen(
    stage_of: Callable[[Any], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[tuple[InterceptionPoint, Any]] = []
    monkeypatch.setattr(listener, "unregister_hook", lambda *hook: left.append(hook))
    try:
        with pytest.raises(AssertionError):
            CONTRACT.test_c21_detaching_leaves_nothing(stage_of(Listener))
    finally:
        for point, hook in left:
            unregister_hook(point, hook)


def test_a_wrap_in_the_context_of_the_run_is_seen(
    stage_of: Callable[[Any], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def compose(model: Any, prompt: str) -> str:
        return str(model.call([{"role": "user", "content": prompt}]))

    monkeypatch.setattr(hooks, "compose", compose)
    stage = stage_of(Block)
    stage.harness.hears = ()  # type: ignore[attr-defined]
    with pytest.raises(AssertionError):
        CONTRACT.test_c11_a_wrap_leaves_no_trace(stage)


def test_a_block_behind_the_question_is_seen(stage_of: Callable[[Any], Stage], monkeypatch: pytest.MonkeyPatch) -> None:
    def place(messages: Any, block: str, question: str, placement: Any) -> None:
        messages.append({"role": "user", "content": block})

    monkeypatch.setattr(items, "place", place)
    with pytest.raises(AssertionError):
        CONTRACT.test_c02_recalled_text_is_user_data_before_the_newest_user_message(stage_of(Block))
