"""A file beside a store is whole or not there, and private."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from assay.errors import ReadOnly, StorageFailure
from assay.storage import files
from assay.storage.failures import translate

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links are POSIX")


def written(path: Path, content: bytes) -> str:
    with os.fdopen(files.create(str(path)), "wb") as file:
        file.write(content)
    return str(path)


def test_a_finished_file_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    files.place(written(tmp_path / "part", b"new"), str(tmp_path / "target"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"target": b"new"}


def test_what_an_interrupted_call_left_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"half of something much longer")
    assert Path(written(tmp_path / "part", b"new")).read_bytes() == b"new"


@posix
def test_a_link_is_neither_written_through_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"theirs")
    for name in ("part", "target"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    part = written(tmp_path / "part", b"ours")
    with pytest.raises(StorageFailure, match="symbolic link"):
        files.place(part, str(tmp_path / "target"))
    assert (tmp_path / "elsewhere").read_bytes() == b"theirs"


@posix
def test_a_new_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        written(tmp_path / "part", b"ours")
    finally:
        os.umask(before)
    assert (tmp_path / "part").stat().st_mode & 0o777 == 0o600


def held(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let whoever holds the target, as a scanner does on Windows, let it go after some attempts."""
    replace, attempts = Path.replace, iter(range(times))

    def refuse(source: Path, target: str) -> Path:
        if next(attempts, None) is not None:
            raise PermissionError(13, "held by another program")
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", refuse)


def test_a_target_that_is_held_for_a_moment_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held(monkeypatch, 5)
    files.place(written(tmp_path / "part", b"new"), str(tmp_path / "target"))
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_target_that_stays_held_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held(monkeypatch, 1_000_000)
    monkeypatch.setattr(files, "_PATIENCE", 0.05)
    with pytest.raises(StorageFailure, match="target cannot be written"):
        files.place(written(tmp_path / "part", b"new"), str(tmp_path / "target"))


def test_a_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(ReadOnly, match="choose a folder"):
        files.create(str(tmp_path / "missing" / "part"))


def test_a_full_disk_that_sqlite_calls_an_io_error_says_what_to_do() -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert "may be full or failing; check it" in str(translate(error, "memory.db"))


def test_of_those_who_claim_a_name_one_gets_it(tmp_path: Path) -> None:
    name = str(tmp_path / "kept")
    assert [files.claim(name), files.claim(name)] == [True, False]
    assert os.name != "posix" or Path(name).stat().st_mode & 0o077 == 0
    with pytest.raises(ReadOnly, match="cannot be created"):
        files.claim(str(tmp_path / "nowhere" / "kept"))
