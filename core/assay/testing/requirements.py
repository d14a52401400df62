"""Tests that need a framework: skipped where it is absent, failed where it was promised."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest

__all__ = ["require"]


def require(module: str, *, extra: str) -> ModuleType:
    """Import the framework of an extra for a test.

    It skips when the framework is not installed, and fails when `ASSAY_REQUIRE_EXTRAS` (names separated by commas)
    promises the extra: a broken installation never passes as a skip.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        promised = os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(",")
        if extra in [name.strip() for name in promised]:
            pytest.fail(f"ASSAY_REQUIRE_EXTRAS names {extra}, and {module} cannot be imported: {error}")
        pytest.skip(f"{module} is not installed: pip install 'assay-memory[{extra}]'")
