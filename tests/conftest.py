"""What holds for every test: no network, no deadline that a busy machine could miss, and the mark of a framework."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
OFFLINE = HERE / "offline"

# Installed at import, before the first test module is: an import may reach for the network as well.
runpy.run_path(str(OFFLINE / "sitecustomize.py"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(OFFLINE), os.environ.get("PYTHONPATH"))))

settings.register_profile("assay", deadline=None)
settings.load_profile("assay")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what lies under `integrations/<folder>` with its binding, so that a session can select it."""
    bindings = HERE / "integrations"
    if item.path.is_relative_to(bindings):
        item.add_marker(pytest.mark.binding(name=item.path.relative_to(bindings).parts[0]))
