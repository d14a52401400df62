"""The contract on Google ADK, through `App` and its own runner."""

from __future__ import annotations

from typing import Any

import pytest

from assay.testing import AdapterContract, Harness

from .harness import GoogleADKHarness


# How the host itself builds the runner of a nested agent.
@pytest.mark.filterwarnings("ignore:The `plugins` argument is deprecated:DeprecationWarning")
class TestContract(AdapterContract):
    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return GoogleADKHarness()
