"""The contract on CrewAI, through `Crew.kickoff` and its own executors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assay.testing import AdapterContract, Capability, Harness

from .harness import CrewAIHarness, Listener

LACKS = {
    Capability.ASYNC_HOOKS: "hooks are called on the loop and cannot wait",
    Capability.RESUME: "a crew does not wait for a person: it asks inside the task, and a checkpoint begins a new run",
    Capability.CALL_IDS: "hooks are not told the id of a call: each call is one, also when it is repeated",
    Capability.CONTROL_FLOW: "its only signal, `HookAborted`, is sent by hooks; from a tool it is an error",
}


class TestContract(AdapterContract):
    lacks = LACKS

    @pytest.fixture
    def harness(self) -> Iterator[Harness[Any]]:
        harness = CrewAIHarness()
        yield harness
        harness.close()


class TestContractByListener(AdapterContract):
    lacks = LACKS

    @pytest.fixture
    def harness(self) -> Iterator[Harness[Any]]:
        harness = CrewAIHarness(Listener)
        yield harness
        harness.close()
