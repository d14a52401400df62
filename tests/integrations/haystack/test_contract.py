"""The contract on Haystack, through `Agent.run`, `Agent.run_async` and their hooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from assay.testing import AdapterContract, Call, Capability, Harness, Say, deviates
from assay.testing.script import Step
from assay.testing.stage import Line, Stage, lines

from .harness import Context, HaystackHarness, Traced

UNSEEN = "no hook is told of an error that ends a run: a `session(...)` around it is, or an `AssayTracer`"


class OnHaystack(AdapterContract):
    lacks: ClassVar = {
        Capability.HANDOFF: "agents call one another as tools, and answer: none takes over",
        Capability.RESUME: "a run does not wait: a hook that asks a person does so while it runs",
        Capability.CONTROL_FLOW: "it has no signal that travels as an exception: a hook stops a run by the state",
    }

    @deviates("hooks are told what a tool has raised as a sentence of the host's")
    def test_c05_a_tool_error_is_flagged_and_changes_nothing(self, stage: Stage) -> None:
        steps: list[Step] = [Call("boom", {"x": "y"}, "c1"), Say("It broke.")]
        bare = stage.run("Break it", steps, memory=None)
        ran = stage.run("Break it", steps, memory=stage.memory())
        assert ran.outcome.same_as(bare.outcome)
        assert [prompt.text for prompt in ran.prompts] == [prompt.text for prompt in bare.prompts]
        failures = [line for line in lines(stage.episodes()) if line.success is False]
        told = "boom failed: Failed to invoke Tool `boom` with parameters {'x': 'y'}. Error: boom-y"
        assert failures == [Line("outcome", "host", "tool", "tool:boom", told, success=False, derived=(2,))]


class TestContract(OnHaystack):
    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return HaystackHarness()


class TestContractByContext(OnHaystack):
    """Without a block around the runs."""

    lacks: ClassVar = {**OnHaystack.lacks, Capability.RUN_FAILURE: UNSEEN}

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return HaystackHarness(Context)


@pytest.mark.parametrize(
    "clause",
    [
        AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure,
        AdapterContract.test_c08_a_tool_error_that_ends_the_run_is_one_failure,
        AdapterContract.test_c12_an_engine_that_fails_altogether_changes_nothing,
        AdapterContract.test_c16_every_entry_gives_the_same,
        AdapterContract.test_c21_detaching_leaves_nothing,
    ],
)
def test_with_a_tracer_in_place_of_a_block(tmp_path: Path, clause: Callable[[Any, Stage], None]) -> None:
    stage = Stage(HaystackHarness(Traced), tmp_path / "stage", OnHaystack.lacks)
    clause(OnHaystack(), stage)
    stage.close()
