"""A binding that breaks a rule of Haystack or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from haystack.components.agents.state import State, replace_values
from haystack.dataclasses import ChatMessage

from assay.session import SessionKey
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.haystack import AssayHook, events, hooks, place, tracer
from assay_integrations.haystack.hooks import At
from assay_integrations.haystack.place import Run, Sessions

from .harness import Block, Context, HaystackHarness, Traced
from .test_contract import OnHaystack

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()
RIGHT = dict(events.AT)


def at(point: str, verb: Callable[[Run, State], None]) -> dict[str, Any]:
    """Make the table of events in which one point does something else."""
    return {**RIGHT, point: verb}


def twice(run: Run, state: State) -> None:
    RIGHT["after_tool"](run, state)
    run.told.clear()
    RIGHT["after_tool"](run, state)


def overlooks(run: Run, state: State) -> None:
    for message in state.data["messages"]:
        run.told[id(message)] = message


def trusts_tools(run: Run, state: State) -> None:
    for result in state.data["messages"][-1].tool_call_results:
        run.session.agent_message(str(result.result))
    overlooks(run, state)


def takes_errors_for_results(run: Run, state: State) -> None:
    for result in state.data["messages"][-1].tool_call_results:
        run.session.tool_result(result.origin.tool_name, result.result, call_id=result.origin.id)
    overlooks(run, state)


def changes_the_answer(run: Run, state: State) -> None:
    RIGHT["after_run"](run, state)
    *before, last = state.data["messages"]
    changed = [*before, ChatMessage.from_assistant(f"{last.text}!")]
    state.set("messages", changed, handler_override=replace_values)


def puts(run: Run, state: State, message: Callable[[str], ChatMessage]) -> None:
    text = run.session.briefing().text
    if text:
        state.set("messages", [message(text), *state.data["messages"]], handler_override=replace_values)


def briefs_the_system(run: Run, state: State) -> None:
    puts(run, state, lambda text: ChatMessage.from_system(text, meta={"assay": ""}))


def leaves_its_message(run: Run, state: State) -> None:
    puts(run, state, ChatMessage.from_user)


def briefs_twice(run: Run, state: State) -> None:
    events.briefed(run, state)
    briefs_the_system(run, state)


BROKEN: list[tuple[str, Callable[[Run, State], None], Clause]] = [
    ("after_tool", overlooks, AdapterContract.test_c06_a_reused_call_id_is_not_merged_when_the_call_is_another),
    ("before_tool", overlooks, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    ("after_tool", trusts_tools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    ("after_run", twice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    ("after_tool", takes_errors_for_results, OnHaystack.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    ("after_run", changes_the_answer, AdapterContract.test_c12_a_slow_engine_changes_nothing),
    ("before_llm", briefs_twice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    ("before_llm", leaves_its_message, AdapterContract.test_c03_the_host_keeps_no_copy),
    (
        "before_llm",
        briefs_the_system,
        AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message,
    ),
]


class WorksUnguarded(At):
    def run(self, state: State) -> None:
        super().run(state)
        run = self.memory.sessions.run(state)
        if run is not None and self.point == "before_tool":
            run.session.briefing("anything")


class TouchesTheDiskOnTheLoop(At):
    async def run_async(self, state: State) -> None:
        self.run(state)


class NotesTheWrap(At):
    def run(self, state: State) -> None:
        super().run(state)
        run = self.memory.sessions.run(state)
        if run is not None and self.point == "after_run":
            with run.session.store() as store:
                state.set("messages", [ChatMessage.from_assistant(f"I see. {store.continuity.text()}")])


class EndsWhatIsLeft(At):
    def run(self, state: State) -> None:
        super().run(state)
        run = self.memory.sessions.run(state)
        if run is not None and self.point == "before_llm":
            run.session.run_ended(None)


class OneSessionForAll(Sessions):
    def of_key(self, key: Any, **more: Any) -> Any:
        return super().of_key(SessionKey("ada", "s1", key.agent), **more)


class SubAgentsAreRoots(Sessions):
    def _around(self) -> Any:
        return None


class ForgetsToDetach(AssayHook):
    def detach(self) -> None:
        """Stay."""


HOOKS: list[tuple[type[At], Clause]] = [
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (TouchesTheDiskOnTheLoop, AdapterContract.test_c16_every_entry_gives_the_same),
    (NotesTheWrap, AdapterContract.test_c11_a_wrap_leaves_no_trace),
    (EndsWhatIsLeft, AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
]
SESSIONS: list[tuple[type[Sessions], Clause]] = [
    (OneSessionForAll, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (SubAgentsAreRoots, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[..., Stage]]:
    stages: list[Stage] = []

    def make(door: Any = Context, hook: type[AssayHook] = AssayHook) -> Stage:
        stages.append(Stage(HaystackHarness(door, hook), tmp_path / "stage", OnHaystack.lacks))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("point", "verb", "clause"), BROKEN, ids=lambda given: getattr(given, "__name__", given))
def test_a_broken_binding_is_seen(
    stage_of: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, point: str, verb: Any, clause: Clause
) -> None:
    monkeypatch.setattr(events, "AT", at(point, verb))
    with pytest.raises(AssertionError):
        clause(OnHaystack(), stage_of())


@pytest.mark.parametrize(("hook", "clause"), HOOKS, ids=lambda given: given.__name__)
def test_a_broken_hook_is_seen(
    stage_of: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, hook: type[At], clause: Clause
) -> None:
    monkeypatch.setattr(hooks, "At", hook)
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of())


@pytest.mark.parametrize(("sessions", "clause"), SESSIONS, ids=lambda given: given.__name__)
def test_a_binding_that_mixes_sessions_is_seen(
    stage_of: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, sessions: type[Sessions], clause: Clause
) -> None:
    monkeypatch.setattr(hooks, "Sessions", sessions)
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of())


@pytest.mark.parametrize("door", [Block, Traced])
def test_a_block_or_a_tracer_that_overlooks_failures_is_seen(
    stage_of: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, door: Any
) -> None:
    for module in (place, tracer):
        monkeypatch.setattr(module, "failing", nullcontext)
    with pytest.raises(AssertionError):
        CONTRACT.test_c08_a_failing_run_leaves_what_happened_and_one_failure(stage_of(door))


def test_hooks_that_come_in_the_place_of_the_users_are_seen(
    stage_of: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = AssayHook.points
    monkeypatch.setattr(AssayHook, "points", lambda memory, theirs=None: points(memory))
    with pytest.raises(AssertionError):
        CONTRACT.test_c22_the_users_own_hooks_run_as_before(stage_of())


def test_a_memory_that_forgets_to_detach_is_seen(stage_of: Callable[..., Stage]) -> None:
    with pytest.raises(AssertionError):
        CONTRACT.test_c21_detaching_leaves_nothing(stage_of(hook=ForgetsToDetach))
