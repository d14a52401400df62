"""What the system refuses ends as a typed error, whichever call it refuses."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from assay import Store
from assay.errors import StorageFailure
from assay.storage.traces import holds


def test_a_reader_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> sqlite3.Connection:
        raise sqlite3.OperationalError("unable to open database file")

    with Store(tmp_path / "memory.db") as store:
        store.record("kept")
        monkeypatch.setattr(store._database._pool, "_connect", refused)
        with pytest.raises(StorageFailure):
            for _ in range(4):  # at least one of the readers was never opened before
                store.recall("kept")
        monkeypatch.undo()
        assert store.recall("kept")[0].text == "kept"


@pytest.mark.skipif(os.name != "posix", reason="the queue is a locked file on POSIX only")
def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refused(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    with Store(tmp_path / "memory.db") as store:
        monkeypatch.setattr(fcntl, "flock", refused)
        with pytest.raises(StorageFailure, match="cannot be locked"):
            store.record("lost")
        monkeypatch.undo()
        store.record("kept")
        assert [episode.content for episode in store.episodes.list()] == ["kept"]


def test_a_file_that_cannot_be_looked_through_may_hold_what_was_erased(tmp_path: Path) -> None:
    assert holds(str(tmp_path), [b"secret"])  # a folder, which no system reads as a file
    (tmp_path / "file").write_bytes(b"nothing of it")
    assert not holds(str(tmp_path / "file"), [b"secret"])
