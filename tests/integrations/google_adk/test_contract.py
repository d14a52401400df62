"""The contract on Google ADK, through `App` and its own runner."""

from __future__ import annotations

from typing import Any

import pytest

from assay.testing import AdapterContract, Harness

from .harness import GoogleADKHarness


class TestContract(AdapterContract):
    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return GoogleADKHarness()
