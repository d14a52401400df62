"""A change, what is derived from it, its entry and the new head are written together or not at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay import Store
from assay.errors import Damaged, StorageFailure
from assay.recall import index
from assay.storage import audit_rows, index_rows, run_rows


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as file:
        return list(file.iterdump())


@pytest.mark.parametrize(
    ("module", "name"),
    [(run_rows, "add"), (index_rows, "merge"), (audit_rows, "append"), (audit_rows, "put_tile")],
    ids=lambda one: str(one),
)
def test_i1_what_fails_on_the_way_to_the_commit_takes_the_whole_change_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str
) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(index, "MERGE_AT", 256)
    path = tmp_path / "memory.db"
    with Store(path, session="s") as store:
        store.episodes.record_many([{"content": f"event {number}"} for number in range(250)])
        before = dump(path)
        with monkeypatch.context() as broken:
            broken.setattr(module, name, fail)
            # These ten fill a tile of the log, and move the newest episodes into a run and into the lists.
            with pytest.raises(StorageFailure):
                store.episodes.record_many([{"content": f"night {number}"} for number in range(10)])
        assert dump(path) == before
        store.episodes.record_many([{"content": f"night {number}"} for number in range(10)])
        assert dump(path) != before
        assert store.verify().entries == 261
        assert store.verify()


@pytest.mark.parametrize("frontier", [b"", bytes(31), bytes(96)])
def test_nothing_is_added_to_a_log_whose_head_cannot_be_its_own(tmp_path: Path, frontier: bytes) -> None:
    with Store(tmp_path / "m.db") as store:
        store.record("kept")
        with closing(sqlite3.connect(tmp_path / "m.db")) as connection:
            connection.execute("UPDATE head SET frontier=?", (frontier,))
            connection.commit()
        with pytest.raises(Damaged, match="head of the audit log"):
            store.record("refused")
        assert store.status().episodes == 1
        assert not store.verify()
