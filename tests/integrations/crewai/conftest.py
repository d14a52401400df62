"""These tests need CrewAI: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import importlib
import os
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

# Read when CrewAI is imported.
for name, value in {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "CREWAI_TESTING": "true",
}.items():
    os.environ.setdefault(name, value)

if find_spec("crewai") is not None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own modules warn of one another
        importlib.import_module("crewai")
elif "crewai" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def folder_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what CrewAI itself writes, the outputs of its newest tasks and its locks, in the folder of the test."""
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the host use what it has deprecated itself, in its own modules."""
    for item in items:
        if any(mark.kwargs.get("name") == "crewai" for mark in item.iter_markers("binding")):
            for module in ("crewai", "pydantic"):
                item.add_marker(pytest.mark.filterwarnings(rf"ignore::DeprecationWarning:{module}.*"))
