"""The contract on the OpenAI Agents SDK, through its own runner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assay.testing import AdapterContract, Harness

from .harness import OpenAIAgentsHarness


class TestContract(AdapterContract):
    @pytest.fixture
    def harness(self) -> Iterator[Harness[Any]]:  # type: ignore[override]
        harness = OpenAIAgentsHarness()
        yield harness
        harness.close()
