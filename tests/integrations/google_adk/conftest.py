"""These tests need Google ADK: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

import pytest

# ADK says these of what it does itself: its experiments, a nested agent's runner, what it means to replace one day.
_ITS_OWN = (r"ignore:\[EXPERIMENTAL\]", "ignore:The `plugins` argument is deprecated", "ignore:SequentialAgent is dep")


def _installed() -> bool:
    # `google` is a namespace that other distributions share.
    return find_spec("google") is not None and find_spec("google.adk") is not None


if _installed():
    # Some releases warn of their own classes as soon as they are imported.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("google.adk.runners")
elif "google-adk" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Let the host's own warnings pass in what is run with it: these tests, and its page and example."""
    for item in items:
        if any(mark.kwargs.get("name") == "google_adk" for mark in item.iter_markers("binding")):
            for warning in _ITS_OWN:
                item.add_marker(pytest.mark.filterwarnings(warning))
