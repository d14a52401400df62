"""The contract on CrewAI, through `Crew.kickoff` and its own executors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, cast

import pytest
from crewai.events import crewai_event_bus
from crewai.events.types.llm_events import LLMCallCompletedEvent

from assay.session import SessionOptions, WrapPolicy
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing import AdapterContract, Capability, Compose, Entry, Harness, Say, Script, deviates
from assay.testing.composer import honest_document
from assay.testing.stage import ADA, FACT, Stage

from .harness import CrewAIHarness, Listener

EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


class OnCrewAI(AdapterContract):
    lacks: ClassVar = {
        Capability.ASYNC_HOOKS: "hooks are called on the event loop and cannot wait",
        Capability.RESUME: "a crew waits for a person inside its task; a checkpoint begins another run",
        Capability.CALL_IDS: "hooks are not told the id of a call: a repeated call is another one",
        Capability.CONTROL_FLOW: "its one signal, `HookAborted`, is sent by hooks; from a tool it is an error",
    }

    @deviates("the bus tells its listeners of every call of a model: the wrap's names no agent and no task")
    def test_c11_a_wrap_leaves_no_trace(self, stage: Stage) -> None:
        harness = cast("CrewAIHarness", stage.harness)
        harness.hears = ()
        super().test_c11_a_wrap_leaves_no_trace(stage)
        heard: list[Any] = []

        def hear(source: Any, event: Any) -> None:
            heard.append(event)

        crewai_event_bus.register_handler(LLMCallCompletedEvent, hear)
        script = Script(Say("Noted."), Compose(lambda prompt: honest_document(prompt, about=FACT)))
        stage.run(FACT, script, memory=stage.memory("heard"), options=EACH_RUN)
        crewai_event_bus.flush()
        crewai_event_bus.off(LLMCallCompletedEvent, hear)
        of_agents = {str(event.response): (event.agent_role, event.task_name) for event in heard}
        assert of_agents.pop("Noted.") == ("main", FACT)
        assert list(of_agents.values()) == [(None, None)]

    @deviates("closing a stream that is not async waits until the crew has finished: its run has ended")
    def test_c17_an_abandoned_stream_is_no_end_of_a_run(self, stage: Stage) -> None:
        harness = cast("CrewAIHarness", stage.harness)
        harness.entries = frozenset({Entry.SYNC, Entry.ASTREAM})
        super().test_c17_an_abandoned_stream_is_no_end_of_a_run(stage)
        script = Script(Say("A long answer in many pieces"), Compose(honest_document))
        agent = harness.build(script, memory=stage.memory("closed"), options=EACH_RUN)
        harness.abandon(agent, FACT, key=ADA, entry=Entry.STREAM)
        assert [episode.content for episode in stage.episodes("closed")] == [FACT, "A long answer in many pieces"]
        with stage.store("closed") as store, database_of(store).read() as reader:
            assert find_open_run(reader, str(ADA.session), None) is None
            assert store.status().wraps == 1


class TestContract(OnCrewAI):
    @pytest.fixture
    def harness(self) -> Iterator[Harness[Any]]:
        harness = CrewAIHarness()
        yield harness
        harness.close()


class TestContractByListener(OnCrewAI):
    @pytest.fixture
    def harness(self) -> Iterator[Harness[Any]]:
        harness = CrewAIHarness(Listener)
        yield harness
        harness.close()
