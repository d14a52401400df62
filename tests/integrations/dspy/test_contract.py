"""The contract on DSPy, through `ReAct` and its own runner."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import pytest

from assay.session import SessionOptions, WrapPolicy
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing import AdapterContract, Call, Capability, Compose, Entry, Fail, Harness, Say, Script, deviates
from assay.testing.composer import honest_document
from assay.testing.stage import ADA, FACT, Line, Stage, lines

from .harness import DSPyHarness, Shared

EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


class OnDSPy(AdapterContract):
    lacks: ClassVar = {
        Capability.ASYNC_HOOKS: "callbacks are called on the event loop and cannot wait",
        Capability.CALL_IDS: "callbacks are not told the id of a call: a repeated call is another one",
        Capability.CONTROL_FLOW: "it has no signal of its own: what a tool raises is an error",
        Capability.HANDOFF: "modules call one another; none takes over from another",
        Capability.RESUME: "a program does not wait for a person",
    }

    @deviates("newer releases raise an error of their own for what a model raises, which is its cause")
    def test_c08_a_failing_run_leaves_what_happened_and_one_failure(self, stage: Stage) -> None:
        error = RuntimeError("the provider is down")
        ran = stage.run("Add", [Call("add", {"a": 1, "b": 2}), Fail(error)], memory=stage.memory(), options=EACH_RUN)
        raised = ran.outcome.error
        assert raised is not None and error in (raised, raised.__cause__)
        *before, failure = lines(stage.episodes())
        assert [line.text for line in before] == ["Add", 'add {"a": 1, "b": 2}', "3"]
        text = f"run failed: {type(raised).__name__}: {raised}"
        assert failure == Line("outcome", "host", "tool", "host", text, success=False)
        assert not [prompt for prompt in ran.script.prompts if prompt.composed], "a failed run does not wrap"

    @deviates("a stream of a program that is not awaited goes on in a thread when it is closed: its run ends")
    def test_c17_an_abandoned_stream_is_no_end_of_a_run(self, stage: Stage) -> None:
        harness = cast("DSPyHarness", stage.harness)
        harness.entries = harness.entries - {Entry.STREAM}
        super().test_c17_an_abandoned_stream_is_no_end_of_a_run(stage)
        script = Script(Say("A long answer in many pieces"), Compose(honest_document))
        agent = harness.build(script, memory=stage.memory("closed"), options=EACH_RUN)
        harness.abandon(agent, FACT, key=ADA, entry=Entry.STREAM)
        assert [episode.content for episode in stage.episodes("closed")] == [FACT, "A long answer in many pieces"]
        with stage.store("closed") as store, database_of(store).read() as reader:
            assert find_open_run(reader, str(ADA.session), None) is None
            assert store.status().wraps == 1


class TestContract(OnDSPy):
    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return DSPyHarness()


class TestContractByOneCallback(OnDSPy):
    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return DSPyHarness(Shared)
