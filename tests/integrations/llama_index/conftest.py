"""These tests need LlamaIndex: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

if find_spec("llama_index") is None and "llama-index" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def conversations_in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep conversations where each loop finds them; a connection of the host's own store is never closed."""
    from .lists import Lists

    monkeypatch.setattr("llama_index.core.memory.memory.SQLAlchemyChatStore", Lists)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the host look at every attribute of an agent, at those too that pydantic will remove."""
    for item in items:
        if any(mark.kwargs.get("name") == "llama_index" for mark in item.iter_markers("binding")):
            for message in ("The .* attribute is deprecated", "Accessing the 'model_"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{message}:DeprecationWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore:.*aiosqlite:ResourceWarning"))
