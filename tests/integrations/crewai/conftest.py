"""These tests need CrewAI: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("crewai") is None and "crewai" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]

# Read when CrewAI is imported.
for name, value in {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "CREWAI_TESTING": "true",
}.items():
    os.environ.setdefault(name, value)


@pytest.fixture(autouse=True)
def folder_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what CrewAI itself writes, the outputs of its newest tasks, in the folder of the test."""
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))
