"""A checkpoint seals the receipts of briefings: what it sealed can no longer be changed without a trace."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.storage.session_rows import KEPT_RECEIPTS, add_receipt


def brief(store: Store, *, times: int = 1) -> None:
    def add(tx: object) -> None:
        for number in range(times):
            add_receipt(tx, "s1", "r1", ["ep_1"], [f"line {number}"])  # type: ignore[arg-type]

    store._database.operational(add)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.record("x")
        brief(store, times=3)
        store.audit.checkpoint()
        brief(store, times=2)
        store.audit.checkpoint()
        brief(store)
    return path


def test_each_checkpoint_seals_the_receipts_since_the_last(path: Path) -> None:
    with Store(path) as store:
        entries: Any = store.audit.entries()
        seals = [entry["data"]["receipts"] for entry in entries if entry["op"] == "checkpoint"]
        assert [(seal["after"], seal["last"]) for seal in seals] == [(0, 3), (3, 5)]
        store.audit.checkpoint()
        store.audit.checkpoint()
        assert "data" not in store.audit.entries()[-1], "there was nothing new to seal"
        assert store.verify()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE receipt SET fingerprints='[]' WHERE id=1",
        "UPDATE receipt SET session='s2' WHERE id=5",
        "DELETE FROM receipt WHERE id=3",
        "DELETE FROM receipt WHERE id>3",
        "DELETE FROM receipt",
    ],
)
def test_a_sealed_receipt_that_was_edited_is_noticed(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    connection.close()
    with Store(path) as store:
        found = store.verify()
        assert any("sealed" in problem for problem in found.problems), found


def test_receipts_that_made_room_are_not_missed(path: Path) -> None:
    with Store(path) as store:
        brief(store, times=KEPT_RECEIPTS - 3)
        assert store.verify(), "some of a seal are gone"
        brief(store, times=10)
        store.audit.checkpoint()
        assert store.verify(), "all of a seal are gone"
