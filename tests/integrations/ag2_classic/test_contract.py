"""The contract, through the chats of AG2 classic."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from assay.testing import AdapterContract, Capability, Harness

from .harness import AG2ClassicHarness


class TestContract(AdapterContract):
    lacks: ClassVar = {
        Capability.TOOL_ERROR_FLAG: "an error of a tool is a text like any other: `Error: ...`",
        Capability.HANDOFF: "who speaks next in a group chat is its manager's choice, which no hook sees",
        Capability.RESUME: "a chat that waits for a person waits within the call",
        Capability.INTERLEAVE_ONE_AGENT: "an agent holds one conversation with each other agent",
        Capability.CONTROL_FLOW: "no signal of this host travels as an exception",
        Capability.ASYNC_HOOKS: "hooks are sync functions: in an async chat they touch the disk on the event loop",
    }

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return AG2ClassicHarness()
