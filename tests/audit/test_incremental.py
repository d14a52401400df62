"""Verifying from the last anchor on: what is new is replayed, what the anchor covers is bound by its root."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.audit.replay import Replay


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(params=[100, 511, 512, 513, 700])
def note(request: pytest.FixtureRequest, path: Path) -> str:
    """Give the anchor of a log of so many entries, to which others were added."""
    with Store(path) as store:
        store.episodes.record_many([{"content": f"event {number}"} for number in range(request.param - 2)])
        note = store.audit.checkpoint().note
        assert note.split("\n")[1] == str(request.param)
        store.episodes.record_many([{"content": f"more {number}"} for number in range(300)])
    return note


def edit(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    assert connection.total_changes
    connection.close()


def test_only_what_came_after_the_anchor_is_replayed(path: Path, note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    take = Replay.take

    def seeing(self: Replay, seq: int, rows: Sequence[Sequence[Any]]) -> None:
        seen.append(seq)
        take(self, seq, rows)

    monkeypatch.setattr(Replay, "take", seeing)
    with Store(path) as store:
        found = store.verify(anchors=[note], since_anchor=True)
        size, root = store.audit.head()
        assert (found.valid, found.entries, found.root) == (True, size, root), found.problems
        assert seen == list(range(int(note.split("\n")[1]), size))
        assert store.verify(since_anchor=True), "without anchors, the newest kept checkpoint is one"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE episode SET content='other' WHERE n=(SELECT max(n) FROM episode)",
        "UPDATE audit SET entry=CAST(replace(entry, 'host', 'user') AS BLOB) WHERE seq=(SELECT max(seq) FROM audit)",
        "DELETE FROM audit WHERE seq=(SELECT max(seq)-1 FROM audit)",
        "DELETE FROM episode WHERE n=(SELECT max(n) FROM episode)",
        "UPDATE head SET root=zeroblob(32)",
    ],
)
def test_a_tampering_behind_the_anchor_is_noticed(path: Path, note: str, sql: str) -> None:
    edit(path, sql)
    with Store(path) as store:
        assert not store.verify(anchors=[note], since_anchor=True)


def test_a_log_that_does_not_lead_to_the_anchor_is_noticed(path: Path, note: str) -> None:
    origin, size, root = note.split("\n")[:3]
    with Store(path) as store:
        forged = f"{origin}\n{size}\n{'A' * 43}=\n\n"
        assert [*store.verify(anchors=[forged], since_anchor=True).breaches] == ["fork"]
        beyond = f"{origin}\n{int(size) + 10_000}\n{root}\n\n"
        assert [*store.verify(anchors=[note, beyond], since_anchor=True).breaches] == ["rollback"]
    edit(path, "UPDATE tile SET hashes=CAST(zeroblob(32) || substr(hashes, 33) AS BLOB) WHERE n=0")
    with Store(path) as store:
        assert not store.verify(anchors=[note], since_anchor=True)


def test_a_store_without_any_checkpoint_is_verified_whole(path: Path) -> None:
    with Store(path) as store:
        store.record("x")
        assert store.verify(since_anchor=True).entries == 2
    edit(path, "UPDATE episode SET content='y'")
    with Store(path) as store:
        assert not store.verify(since_anchor=True)
