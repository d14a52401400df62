"""These tests need AG2 before 1.0: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec

import pytest

# Older releases say this of what they do themselves.
_ITS_OWN = "ignore:The `copy` method is deprecated"

if find_spec("autogen") is None and "ag2-classic" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Let the host's own warnings pass in what is run with it: these tests, and its page and example."""
    for item in items:
        if any(mark.kwargs.get("name") == "ag2_classic" for mark in item.iter_markers("binding")):
            item.add_marker(pytest.mark.filterwarnings(_ITS_OWN))
