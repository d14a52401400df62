"""The contract on CAMEL, through `step` and `astep` of its own chat agent."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from assay.testing import AdapterContract, Capability, Harness, deviates
from assay.testing.stage import Stage

from .harness import CamelHarness


class TestContract(AdapterContract):
    lacks: ClassVar = {
        Capability.TOOL_ERROR_FLAG: "a tool that fails gives its memory a text, by which alone the failure is known",
        Capability.HANDOFF: "its agents do not transfer a conversation to one another",
        Capability.RESUME: "a step does not wait for a person: an external tool ends it, and the next is another run",
        Capability.CONTROL_FLOW: "what a tool raises becomes a text for the model: no signal travels as an exception",
    }

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return CamelHarness()

    @deviates("an agent of this host holds one conversation: two agents of one memory are interleaved")
    def test_c14_interleaved_runs_of_one_adapter_do_not_cross(self, stage: Stage) -> None:
        super().test_c14_interleaved_runs_of_one_adapter_do_not_cross(stage)
