"""The contract on a host without a framework: the suite itself, and the port beneath it."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from assay.testing import AdapterContract, Capability, Harness, PlainHarness


class TestPlainContract(AdapterContract):
    lacks: ClassVar = {Capability.EXTRA: "no framework and no extra: the host is part of assay.testing"}

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return PlainHarness()
