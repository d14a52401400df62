"""The contract on smolagents, through `MultiStepAgent.run` and its stream of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from assay.testing import AdapterContract, Capability, Harness

from .harness import SmolagentsHarness


class TestContract(AdapterContract):
    lacks: ClassVar = {
        Capability.HANDOFF: "agents call one another like tools, and answer: none takes over",
        Capability.RESUME: "a run does not wait: an interrupted one ends",
        Capability.INTERLEAVE_ONE_AGENT: "an agent keeps the steps of one run at a time",
        Capability.SAVE: "the host saves neither callbacks nor memory, nor a model of the user's own",
        Capability.ASYNC_HOOKS: "agents run in a thread, not on an event loop",
    }

    @pytest.fixture
    def harness(self) -> Iterator[Harness[Any]]:
        harness = SmolagentsHarness()
        yield harness
        harness.close()
