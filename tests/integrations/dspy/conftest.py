"""These tests need DSPy: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec

import pytest

# Read when DSPy is imported: where it keeps the answers of models, and that prices are not to be looked up.
CACHE = tempfile.TemporaryDirectory(prefix="assay-dspy-")  # there until the tests are over
os.environ.setdefault("DSPY_CACHEDIR", CACHE.name)
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

if find_spec("dspy") is None and "dspy" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the host use what it has deprecated itself, in its own modules."""
    for item in items:
        if any(mark.kwargs.get("name") == "dspy" for mark in item.iter_markers("binding")):
            item.add_marker(pytest.mark.filterwarnings(r"ignore::DeprecationWarning:(dspy|litellm|pydantic).*"))
