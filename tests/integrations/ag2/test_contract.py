"""The contract, through the agents of AG2."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from assay.testing import AdapterContract, Capability, Harness

from .harness import AG2Harness


class TestContract(AdapterContract):
    lacks: ClassVar = {
        Capability.HANDOFF: "an agent runs another one as a task and goes on; none takes over from another",
        Capability.CONTROL_FLOW: "no signal of this host travels as an exception: waiting for a person is an await",
    }

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return AG2Harness()
