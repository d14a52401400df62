"""The log is in the order of its numbers, whatever the clock of the machine does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from assay import Store
from assay.model.times import to_us

START = datetime(2026, 10, 25, 0, 59, 59, tzinfo=UTC)
SUMMER, WINTER = timezone(timedelta(hours=2)), timezone(timedelta(hours=1))
WALLS = {
    "goes back": [START, START - timedelta(days=400), START + timedelta(seconds=1)],
    "goes forward a hundred years, and home": [START, START + timedelta(days=36_525), START + timedelta(minutes=1)],
    "repeats a second, as for a leap second": [START, START + timedelta(seconds=0.9), START, START + timedelta(1)],
    "changes from summer to winter time": [START.astimezone(SUMMER), (START + timedelta(seconds=2)).astimezone(WINTER)],
    "is frozen": [START] * 4,
}


@pytest.mark.parametrize("walls", WALLS.values(), ids=WALLS)
def test_t14_order_is_by_number_time_never_goes_back_and_the_raw_clock_is_kept(
    tmp_path: Path, walls: Sequence[datetime]
) -> None:
    ticking = [walls[0]]
    with Store(tmp_path / "memory.db", clock=lambda: ticking[-1]) as store:
        for number, wall in enumerate(walls):
            ticking.append(wall)
            store.record(f"event {number}")
        entries = [entry for entry in store.audit.entries() if entry["op"] == "record"]
        assert [episode.content for episode in store.episodes.list()] == [f"event {n}" for n in range(len(walls))]
        assert store.verify()
    times = [int(str(entry["ts"])) for entry in entries]
    raw = [to_us(wall) for wall in walls]
    assert times == [max(raw[: at + 1]) for at in range(len(raw))]
    assert [entry.get("wall", entry["ts"]) for entry in entries] == raw
