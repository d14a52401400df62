"""A binding that breaks a rule of CAMEL or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from camel.agents import ChatAgent
from camel.messages import FunctionCallingMessage
from camel.types import OpenAIBackendRole

from assay.session import Session, SessionKey
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.camel_ai import AssayAgentMemory, AssayChatAgent, agent, events, items
from assay_integrations.camel_ai.place import Sessions

from .harness import CamelHarness

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(AssayAgentMemory):
    def write_records(self, records: Any) -> None:
        self._kept.write_records(records)
        self.seat.hear([one for one in records if one.role_at_backend is not OpenAIBackendRole.FUNCTION])


class HearsTwice(AssayAgentMemory):
    def write_records(self, records: Any) -> None:
        super().write_records(records)
        for one in records:
            if items.is_answer(one) and self.seat.step is not None:
                self.seat.step.tell("record", partial(events.heard, record=one.model_copy(update={"uuid": self})))


class CallsErrorsResults(AssayAgentMemory):
    """Writes what a tool gave as the host shows it to the model."""

    def write_records(self, records: Any) -> None:
        for one in records:
            if isinstance(one.message, FunctionCallingMessage):
                one.message.result = "[MASKED]"
        super().write_records(records)


class WorksUnguarded(AssayAgentMemory):
    def write_records(self, records: Any) -> None:
        super().write_records(records)
        if self.seat.step is not None:
            events.heard(self.seat.step.session, records[-1])


class BriefsTwice(AssayAgentMemory):
    def _briefed(self, records: Any) -> Any:
        return super()._briefed(super()._briefed(records))


class BriefsTheFirstCallAlone(AssayAgentMemory):
    def _briefed(self, records: Any) -> Any:
        briefed = super()._briefed(records)
        return (
            records
            if any(isinstance(one.memory_record.message, FunctionCallingMessage) for one in records)
            else briefed
        )


class SpeaksAsTheSystem(AssayAgentMemory):
    def _briefed(self, records: Any) -> Any:
        step = self.seat.step
        return records if step is None or not step.block else items.as_system(records, step.block)


class PutsTheBriefingIntoTheHistory(AssayAgentMemory):
    def _briefed(self, records: Any) -> Any:
        briefed = super()._briefed(records)
        self._kept.write_records([one.memory_record for one in briefed if one not in records])
        return self._kept.retrieve()


class ForgetsWhoSpeaks(AssayAgentMemory):
    def __init__(self, target: Any, **given: Any) -> None:
        super().__init__(target, **{**given, "user": "ada", "session": "s1"})


class KnowsNoCaller(Sessions):
    def of_step(self, key: SessionKey, *, sub: bool) -> Session:
        return self.of_key(key)


class TakesSubAgentsForTheRoot(AssayAgentMemory):
    def sub(self, agent: str) -> AssayAgentMemory:
        made = super().sub(agent)
        made.seat.sessions = KnowsNoCaller(self.seat.sessions.router, self.seat.sessions.options)
        return made


class TouchesTheDiskOnTheLoop(AssayChatAgent):
    async def astep(self, *given: Any, **more: Any) -> Any:
        cast("AssayAgentMemory", self.memory).seat.enter().session.run_started()
        return await super().astep(*given, **more)


class EndsAbandonedRuns(AssayChatAgent):
    def _streamed(self, seat: Any, *given: Any, **more: Any) -> Any:
        try:
            yield from super()._streamed(seat, *given, **more)
        finally:
            seat.enter().session.run_ended(None)


class ReplacesErrors(AssayChatAgent):
    def step(self, *given: Any, **more: Any) -> Any:
        try:
            return super().step(*given, **more)
        except Exception as error:
            raise RuntimeError("the step failed") from error


class HidesFailures(AssayChatAgent):
    def step(self, *given: Any, **more: Any) -> Any:
        return ChatAgent.step(self, *given, **more)


class DropsItsClones(AssayChatAgent):
    def clone(self, with_memory: bool = False) -> ChatAgent:
        made = super().clone(with_memory)
        cast("Any", made)._memory = self.memory.again() if isinstance(self.memory, AssayAgentMemory) else None
        return made


MEMORIES: list[tuple[type[AssayAgentMemory], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (HearsTwice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (CallsErrorsResults, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (BriefsTheFirstCallAlone, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (SpeaksAsTheSystem, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (PutsTheBriefingIntoTheHistory, AdapterContract.test_c03_the_host_keeps_no_copy),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (ForgetsWhoSpeaks, AdapterContract.test_c15_users_stay_apart),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
]
AGENTS: list[tuple[type[AssayChatAgent], Clause]] = [
    (TouchesTheDiskOnTheLoop, AdapterContract.test_c16_every_entry_gives_the_same),
    (EndsAbandonedRuns, AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
    (ReplacesErrors, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (HidesFailures, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (HidesFailures, AdapterContract.test_c10_the_agents_own_model_composes_and_good_text_commits),
    (DropsItsClones, AdapterContract.test_c23_the_hosts_way_to_save_still_works),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[..., Stage]]:
    stages: list[Stage] = []

    def make(binding: Any = AssayChatAgent, memory: Any = AssayAgentMemory) -> Stage:
        stages.append(Stage(CamelHarness(binding, memory), tmp_path / "stage", {}))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("memory", "clause"), MEMORIES, ids=lambda given: given.__name__)
def test_a_broken_memory_is_seen(
    stage_of: Callable[..., Stage], memory: type[AssayAgentMemory], clause: Clause
) -> None:
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(memory=memory))


@pytest.mark.parametrize(("binding", "clause"), AGENTS, ids=lambda given: given.__name__)
def test_a_broken_agent_is_seen(stage_of: Callable[..., Stage], binding: type[AssayChatAgent], clause: Clause) -> None:
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(binding))


def test_a_wrap_in_the_conversation_itself_is_seen(
    stage_of: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a binding that lets the agent, not its model, write the continuity."""

    class AsksTheAgent(AssayChatAgent):
        def step(self, *given: Any, **more: Any) -> Any:
            def ask(model: Any, prompt: str) -> str:
                response: Any = ChatAgent.step(self, prompt)
                return str(response.msgs[0].content)

            monkeypatch.setattr(agent, "compose", ask)
            return super().step(*given, **more)

    with pytest.raises(AssertionError):
        CONTRACT.test_c11_a_wrap_leaves_no_trace(stage_of(AsksTheAgent))
