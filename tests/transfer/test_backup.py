"""A backup is a whole store of one moment, proved before it is called one."""

from __future__ import annotations

import base64
import sqlite3
import threading
from pathlib import Path

import pytest

from assay import Store
from assay.errors import Damaged, StorageFailure

from .scene import furnish


def test_a_backup_is_the_store_and_stands_alone(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        furnish(store)
        made = store.transfer.backup(tmp_path / "a.bak")
        assert (made.entries, made.root) == store.audit.head()
        assert made.size == (tmp_path / "a.bak").stat().st_size
        held = list(store.episodes.list())
    assert {path.name for path in tmp_path.glob("a.bak*")} == {"a.bak", "a.bak.checkpoint"}
    with Store(tmp_path / "a.bak", read_only=True) as copy:
        assert list(copy.episodes.list()) == held
        assert copy.verify()
    assert {path.name for path in tmp_path.glob("a.bak*")} == {"a.bak", "a.bak.checkpoint"}, "readable without a log"


def test_the_checkpoint_beside_it_says_how_far_it_goes(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.record("Deploys go out on Tuesday")
        made = store.transfer.backup(tmp_path / "a.bak")
        origin, size, root, *rest = (tmp_path / "a.bak.checkpoint").read_text("utf-8").split("\n")
        assert origin.endswith(store.status().store_id)
    assert (int(size), base64.b64decode(root).hex(), rest) == (made.entries, made.root, ["", ""])


def test_a_backup_is_of_one_moment_while_others_write(tmp_path: Path) -> None:
    stop = threading.Event()
    with Store(tmp_path / "memory.db", synchronous="NORMAL") as store, Store(tmp_path / "memory.db") as other:

        def write() -> None:
            while not stop.is_set():
                other.record("one more")

        thread = threading.Thread(target=write)
        thread.start()
        try:
            made = [store.transfer.backup(tmp_path / f"{number}.bak") for number in range(5)]
        finally:
            stop.set()
            thread.join()
        assert store.verify()
    for backup in made:
        with Store(backup.path, read_only=True) as copy:
            assert copy.verify()
            assert copy.audit.head() == (backup.entries, backup.root)
    assert sorted(backup.entries for backup in made) == [backup.entries for backup in made]


def test_a_store_in_memory_can_be_kept(tmp_path: Path) -> None:
    with Store(":memory:") as store:
        store.record("Deploys go out on Tuesday")
        store.transfer.backup(tmp_path / "kept.db")
    with Store(tmp_path / "kept.db") as store:
        assert store.recall("when do we deploy")[0].text == "Deploys go out on Tuesday"
        store.record("more")
        assert store.verify()


def test_a_store_that_does_not_verify_gives_no_backup(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.record("Deploys go out on Tuesday")
        connection = sqlite3.connect(tmp_path / "memory.db")
        connection.execute("UPDATE episode SET content = 'Deploys go out on Friday'")
        connection.commit()
        connection.close()
        with pytest.raises(Damaged, match="does not verify"):
            store.transfer.backup(tmp_path / "a.bak")
    assert list(tmp_path.glob("a.bak*")) == []


def test_a_backup_takes_the_place_of_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.transfer.backup(tmp_path / "a.bak")
        before = (tmp_path / "a.bak").read_bytes()
        store.record("more")
        with pytest.raises(StorageFailure, match="exists"):
            store.transfer.backup(tmp_path / "a.bak")
        (tmp_path / "b.bak.checkpoint").write_text("mine")
        with pytest.raises(StorageFailure, match="exists"):
            store.transfer.backup(tmp_path / "b.bak")
    assert (tmp_path / "a.bak").read_bytes() == before
    assert not (tmp_path / "b.bak").exists()
