"""The contract on LlamaIndex, through the runs of its own agents."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from assay.testing import AdapterContract, Capability, Harness

from .harness import LlamaIndexHarness


class TestContract(AdapterContract):
    lacks: ClassVar = {
        Capability.RESUME: "a run that waits goes on in its own event loop: a saved context has lost its memory",
        Capability.CONTROL_FLOW: "its one signal, of a tool that waits for an event, ends no run",
    }

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return LlamaIndexHarness()
