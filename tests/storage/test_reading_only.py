"""A store that is only read stays as it is, also where nothing can be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay import Store
from assay.errors import ReadOnly, StorageFailure

posix = pytest.mark.skipif(os.name != "posix", reason="modes and user ids are POSIX")
NOBODY = 65534


@contextmanager
def sealed(folder: Path) -> Iterator[None]:
    """Let a folder take no new files; the superuser becomes nobody, whom modes bind."""
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.getuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(0o755)
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    superuser = os.geteuid() == 0
    try:
        if superuser:
            os.seteuid(NOBODY)
        yield
    finally:
        if superuser:
            os.seteuid(0)
        folder.chmod(0o755)


def test_i27_reading_writes_nothing_and_takes_no_lock_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.record("Deploys go out on Tuesday")
    Path(f"{path}-q").unlink(missing_ok=True)
    before = path.read_bytes()
    with Store(path, read_only=True) as store:
        assert store.recall("when do we deploy")[0].text == "Deploys go out on Tuesday"
        assert store.briefing("when do we deploy")
        assert store.verify()
        with pytest.raises(ReadOnly):
            store.record("more")
    assert path.read_bytes() == before
    # SQLite itself makes these two for whoever reads a database in WAL mode.
    left = {file.name for file in tmp_path.iterdir()} - {"memory.db-wal", "memory.db-shm"}
    assert left == {"memory.db"}
    assert not Path(f"{path}-wal").exists() or Path(f"{path}-wal").stat().st_size == 0


@posix
def test_i27_a_store_on_a_read_only_medium_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "medium"
    folder.mkdir()
    with Store(folder / "memory.db") as store:
        store.record("Deploys go out on Tuesday")
    with sealed(folder):
        with Store(folder / "memory.db", read_only=True) as store:
            assert store.recall("when do we deploy")[0].text == "Deploys go out on Tuesday"
            assert store.verify()
        with pytest.raises(StorageFailure):
            Store(folder / "memory.db")
    assert {file.name for file in folder.iterdir()} <= {"memory.db", "memory.db-q"}


@posix
def test_i27_what_waits_in_the_log_is_not_left_out_silently(tmp_path: Path) -> None:
    folder = tmp_path / "medium"
    folder.mkdir()
    with Store(tmp_path / "memory.db") as store:
        store.record("Deploys go out on Tuesday")
        for ending in ("", "-wal"):  # as a copy of the files of an open store
            (folder / f"memory.db{ending}").write_bytes(Path(f"{tmp_path / 'memory.db'}{ending}").read_bytes())
    assert (folder / "memory.db-wal").stat().st_size
    with sealed(folder), pytest.raises(StorageFailure):
        Store(folder / "memory.db", read_only=True)
