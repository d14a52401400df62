"""A restore goes backwards only when it is told to, and what it did stands in the log."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.errors import Busy, Conflict, Damaged, InvalidInput, NewerSchema, ReadOnly, StorageFailure
from assay.storage.schema import SCHEMA_VERSION
from assay.transfer import restore as restoring
from assay.transfer.restore import Restored, restore

from ..storage import faults
from ..storage.older import take_back
from .scene import furnish


def contents(store: Store) -> list[str]:
    return [episode.content for episode in store.episodes.list(limit=1000)]


def last_entry(store: Store) -> Any:
    return store.audit.entries(after=store.audit.head()[0] - 2)[-1]


def put_back(backup: Path, target: Path, **options: Any) -> Restored:
    return restore(str(backup), str(target), actor="operator", principal="test", **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give a store with three episodes, whose backup `a.bak` holds the first two."""
    with Store(tmp_path / "memory.db") as store:
        store.record("first")
        store.record("the forgotten remark")
        store.transfer.backup(tmp_path / "a.bak")
        store.record("third")
    return tmp_path / "memory.db"


def test_i28_a_backup_older_than_the_store_is_refused(path: Path) -> None:
    before = path.read_bytes()
    with Store(path) as store:
        with pytest.raises(Conflict, match=r"older than the store of 4 entries.*--accept-rollback"):
            store.transfer.restore(path.with_name("a.bak"))
        assert contents(store) == ["first", "the forgotten remark", "third"]
    assert path.read_bytes() == before
    assert {file.name for file in path.parent.iterdir()} <= {"memory.db", "memory.db-q", "a.bak", "a.bak.checkpoint"}


def test_i16_an_accepted_rollback_is_an_entry_of_the_log(path: Path) -> None:
    with Store(path, session="s1") as store, Store(path) as other:
        was = store.audit.head()
        done = store.transfer.restore(path.with_name("a.bak"), accept_rollback=True)
        assert contents(store) == contents(other) == ["first", "the forgotten remark"]
        entry = last_entry(store)
        assert (entry["op"], entry["data"]["replaced"]) == ("restore", {"size": was[0], "root": was[1]})
        with Store(path.with_name("a.bak"), read_only=True) as backup:
            size, root = backup.audit.head()
        assert entry["data"]["backup"] == {"size": size, "root": root}
        assert (done.entries, done.replaced) == (size + 1, was[0])
        other.record("another third")
        assert store.recall("another third")[0].text == "another third"
        assert store.verify()
        store.transfer.restore(path.with_name("a.bak"), accept_rollback=True)
    with Store(done.kept, read_only=True) as kept:
        assert contents(kept) == ["first", "the forgotten remark", "third"], "what was there can be had back"
        assert kept.audit.head() == was


def test_what_was_erased_since_the_backup_stays_erased(path: Path) -> None:
    with Store(path) as store:
        gone = store.recall("the forgotten remark")[0].episode
        assert gone is not None
        store.erase(gone, reason="asked")
        done = store.transfer.restore(path.with_name("a.bak"), accept_rollback=True)
        assert done.erased == (gone.ref,)
        assert contents(store) == ["first"]
        assert store.verify()
    assert b"forgotten" not in path.read_bytes()


def test_a_backup_that_goes_on_where_the_store_ends_needs_no_word(path: Path) -> None:
    older = path.with_name("older.db")
    older.write_bytes(path.with_name("a.bak").read_bytes())
    with Store(path) as store:
        store.transfer.backup(path.with_name("newer.bak"))
    assert put_back(path.with_name("newer.bak"), older).replaced == 3
    with Store(older) as store:
        assert contents(store) == ["first", "the forgotten remark", "third"]


def test_a_fork_of_equal_length_is_refused(path: Path) -> None:
    fork = path.with_name("fork.db")
    fork.write_bytes(path.with_name("a.bak").read_bytes())
    with Store(fork) as store:
        store.record("another third")
    with pytest.raises(Conflict, match="no continuation of the store of 4 entries"):
        put_back(path.with_name("a.bak").with_name("fork.db"), path)


def test_a_backup_of_another_store_is_refused_whatever_is_accepted(path: Path) -> None:
    with Store(path.with_name("other.db")) as other:
        other.transfer.backup(path.with_name("other.bak"))
    with pytest.raises(Conflict, match="another store"):
        put_back(path.with_name("other.bak"), path, accept_rollback=True)


def test_i28_a_backup_older_than_an_anchor_is_refused_where_nothing_is(path: Path) -> None:
    with Store(path) as store:
        store.transfer.backup(path.with_name("anchor"))
    anchors, target = str(path.with_name("anchor.checkpoint")), path.with_name("new.db")
    with pytest.raises(Conflict, match="older than the anchor of 4 entries"):
        put_back(path.with_name("a.bak"), target, anchors=anchors)
    assert not target.exists()
    put_back(path.with_name("anchor"), target, anchors=anchors)
    with Store(target) as store:
        assert contents(store) == ["first", "the forgotten remark", "third"]
        assert "replaced" not in last_entry(store)["data"]
        assert store.verify()


def test_a_tampered_backup_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path.with_name("a.bak"))
    connection.execute("UPDATE episode SET content = 'forged'")
    connection.commit()
    connection.close()
    with pytest.raises(Damaged, match="does not verify"):
        put_back(path.with_name("a.bak"), path, accept_rollback=True)
    with Store(path) as store:
        assert contents(store) == ["first", "the forgotten remark", "third"]


def test_a_file_that_is_no_store_is_refused(path: Path) -> None:
    path.with_name("junk").write_bytes(b"junk" * 1000)
    path.with_name("empty").write_bytes(b"")
    sqlite3.connect(path.with_name("foreign")).execute("CREATE TABLE t(x)").connection.close()
    for name in ("junk", "empty", "foreign", "missing"):
        with pytest.raises(StorageFailure):
            put_back(path.with_name(name), path, accept_rollback=True)
    with pytest.raises(InvalidInput, match="its own backup"):
        put_back(path, path)


@pytest.mark.parametrize("left", [os.urandom(8192), b""], ids=["noise", "nothing"])
def test_a_damaged_store_is_set_aside(path: Path, left: bytes) -> None:
    path.write_bytes(left)
    Path(f"{path}-wal").write_bytes(b"an old log")
    with pytest.raises(Conflict, match="cannot be read"):
        put_back(path.with_name("a.bak"), path)
    done = put_back(path.with_name("a.bak"), path, accept_rollback=True)
    assert done.replaced is None
    assert Path(done.kept).read_bytes() == left
    assert Path(f"{done.kept}-wal").read_bytes() == b"an old log", "an old log must not meet a new file"
    with Store(path) as store:
        assert contents(store) == ["first", "the forgotten remark"]
        assert store.verify()


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege on Windows")
def test_a_link_is_not_followed(path: Path) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path)
    with pytest.raises(StorageFailure, match="symbolic link"):
        put_back(path.with_name("a.bak"), link, accept_rollback=True)
    assert link.is_symlink()
    with Store(path) as store:
        assert contents(store) == ["first", "the forgotten remark", "third"]


def test_what_was_recorded_meanwhile_is_not_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = restoring._stage

    def staged_slowly(*args: Any) -> Any:
        with Store(path) as other:
            other.record("meanwhile")
        return stage(*args)

    monkeypatch.setattr(restoring, "_stage", staged_slowly)
    with pytest.raises(Conflict, match="meanwhile"):
        put_back(path.with_name("a.bak"), path, accept_rollback=True)
    with Store(path) as store:
        assert contents(store) == ["first", "the forgotten remark", "third", "meanwhile"]


def version(path: Path, number: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={number}")
    connection.close()


def test_an_older_backup_takes_the_place_of_an_older_store(path: Path) -> None:
    take_back(path, 1)
    take_back(path.with_name("a.bak"), 1)
    done = put_back(path.with_name("a.bak"), path, accept_rollback=True)
    with Store(path) as store:
        assert contents(store) == ["first", "the forgotten remark"]
        steps = ["migrate"] * (SCHEMA_VERSION - 1)
        assert [entry["op"] for entry in store.audit.entries(after=2)] == [*steps, "restore"]
        assert store.verify()
    with Store(done.kept, read_only=True) as kept:
        assert contents(kept) == ["first", "the forgotten remark", "third"]
    assert not list(path.parent.glob("*restoring*"))


def test_a_newer_store_is_no_damaged_one(path: Path) -> None:
    version(path, 99)
    with pytest.raises(NewerSchema):
        put_back(path.with_name("a.bak"), path, accept_rollback=True)
    version(path, SCHEMA_VERSION)
    with Store(path) as store:
        assert contents(store) == ["first", "the forgotten remark", "third"]


def test_what_only_reads_restores_nothing(path: Path) -> None:
    with Store(path, read_only=True) as store, pytest.raises(ReadOnly):
        store.transfer.restore(path.with_name("a.bak"), accept_rollback=True)
    with Store(":memory:") as store, pytest.raises(ReadOnly):
        store.transfer.restore(path.with_name("a.bak"), accept_rollback=True)


def test_a_store_that_another_program_holds_is_busy(path: Path) -> None:
    with Store(path, timeout=0.3) as store:
        foreign = sqlite3.connect(path, isolation_level=None)
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy):
            store.transfer.restore(path.with_name("a.bak"), accept_rollback=True)
        foreign.close()
        assert contents(store) == ["first", "the forgotten remark", "third"]


def test_a_furnished_store_comes_back_whole(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db", session="s1") as store:
        furnish(store)
        body, beliefs, episodes = store.continuity.text(), store.beliefs.list(), list(store.episodes.list())
        store.transfer.backup(tmp_path / "a.bak")
        store.record("later")
        store.wrap()
        store.transfer.restore(tmp_path / "a.bak", accept_rollback=True)
        assert (store.continuity.text(), store.beliefs.list(), list(store.episodes.list())) == (body, beliefs, episodes)
        assert store.recall("how large is the pool")[0].text == "pool size is 40"
        store.record("and it goes on")
        assert store.wrap().status == "committed"
        assert store.verify()


def test_i16_anchors_say_roll_back_until_one_vouches_for_the_restore(path: Path) -> None:
    anchors = path.with_name("anchors")
    with Store(path) as store:
        store.audit.anchor(anchors)
        store.transfer.restore(path.with_name("a.bak"), accept_rollback=True)
        assert not store.verify(anchors=anchors)
        store.audit.anchor(anchors)
        assert store.verify(anchors=anchors), store.verify(anchors=anchors)


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_kill_on_the_way_leaves_the_old_store_or_the_restored_one(path: Path, tmp_path: Path) -> None:
    for at in range(1, 1000, 12):
        target = tmp_path / str(at) / "memory.db"
        target.parent.mkdir()
        target.write_bytes(path.read_bytes())
        command = [sys.executable, faults.__file__, str(target), str(at), str(path.with_name("a.bak"))]
        code = subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode
        with Store(target) as store:
            assert store.verify()
            restored = contents(store) == ["first", "the forgotten remark"]
            assert restored or contents(store) == ["first", "the forgotten remark", "third"]
            assert restored == (last_entry(store)["op"] == "restore")
        if code == 0:
            assert restored and at > 20
            return
        assert code == -signal.SIGKILL
    raise AssertionError("the restore has no end")


def test_a_backup_with_pages_of_another_size_takes_the_place_of_a_store(tmp_path: Path) -> None:
    path, backup = tmp_path / "memory.db", tmp_path / "a.bak"
    with Store(path) as store:
        store.record("of a time when pages were larger")
        store.transfer.backup(backup)
    with sqlite3.connect(backup, isolation_level=None) as file:
        file.executescript("PRAGMA journal_mode=DELETE; PRAGMA page_size=8192; VACUUM")
    with Store(path) as store, Store(path) as other:
        store.record("recorded since")
        store.transfer.restore(backup, accept_rollback=True)
        assert contents(other) == ["of a time when pages were larger"]
        assert other.recall("larger pages")
        assert store.verify()
