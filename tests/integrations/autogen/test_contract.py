"""The contract, through the agents and teams of AutoGen."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from assay.testing import AdapterContract, Call, Capability, Harness, Say, deviates
from assay.testing.stage import Line, Stage, lines

from .harness import AutoGenHarness


class TestContract(AdapterContract):
    lacks: ClassVar = {
        Capability.RESUME: "no tool interrupts a run: a team that hands over to a person ends, and a new run goes on",
        Capability.INTERLEAVE_ONE_AGENT: "an agent holds one conversation: each has agents of its own",
        Capability.CONTROL_FLOW: "no signal of this host travels as an exception, cancellation apart",
    }

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return AutoGenHarness()

    @deviates("of an error of a tool this host keeps the message, not the type")
    def test_c05_a_tool_error_is_flagged_and_changes_nothing(self, stage: Stage) -> None:
        steps: list[Any] = [Call("boom", {"x": "y"}, "c1"), Say("It broke.")]
        bare = stage.run("Break it", steps, memory=None)
        ran = stage.run("Break it", steps, memory=stage.memory())
        assert ran.outcome.same_as(bare.outcome)
        assert [prompt.text for prompt in ran.prompts] == [prompt.text for prompt in bare.prompts]
        failures = [line for line in lines(stage.episodes()) if line.success is False]
        assert failures == [
            Line("outcome", "host", "tool", "tool:boom", "boom failed: boom-y", success=False, derived=(2,))
        ]
