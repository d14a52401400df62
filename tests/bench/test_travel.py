"""The bench of a travelling store says whether the exports are equal, and what they took."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.torture import travel


def test_a_small_store_travels_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(travel, "EPISODES", 300)
    found = travel.measure(tmp_path)
    assert (found["episodes"], found["equal"]) == (300, 1)
    assert found["bytes"] > 50_000
    assert set(found) == {"episodes", "equal", "bytes", "export_s", "export_mb", "import_s", "import_mb"}
