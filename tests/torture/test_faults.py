"""Single system calls fail: some of each kind here, each of them in `python -m bench torture --long --only faults`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.torture.faults import Fault, strike


def _can_inject() -> bool:
    try:
        command = ["strace", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", sys.executable, "-c", ""]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not _can_inject(), reason="strace is not installed, or may not let calls fail here")


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process that is struck find `bench`."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("pwrite64", "ENOSPC", "memory.db-wal", 40, lasting=True),
        Fault("pwrite64", "ENOSPC", "memory.db-wal", 150),
        Fault("pwrite64", "EIO", "memory.db-wal", 120),
        Fault("fdatasync", "EIO", "memory.db-wal", 4),
        Fault("fdatasync", "EIO", "memory.db-wal", 8, lasting=True),
        Fault("openat", "EACCES", "memory.db-wal", 1),
        Fault("pwrite64", "ENOSPC", "memory.db-shm", 3, lasting=True),
        Fault("pwrite64", "ENOSPC", "memory.db", 1, lasting=True),
        Fault("openat", "EMFILE", "memory.db-q", 1),
        Fault("write", "ENOSPC", "anchors", 1, lasting=True),
        Fault("fsync", "EIO", "anchors", 1),
        Fault("openat", "EACCES", "anchors", 1),
        Fault("pwrite64", "ENOSPC", "copy.db.part", 5, lasting=True),
        Fault("rename", "EIO", "copy.db.part", 1),
        Fault("write", "ENOSPC", "lines.jsonl.part", 1, lasting=True),
        Fault("unlink", "EIO", "lines.jsonl.part", 1, lasting=True),
    ],
    ids=lambda fault: f"{fault.call}-{fault.error}-{fault.file}-{fault.number}{'+' if fault.lasting else ''}",
)
def test_i2_a_call_that_fails_is_a_typed_error_and_takes_nothing_that_was_acknowledged(
    tmp_path: Path, fault: Fault
) -> None:
    assert strike(tmp_path / "struck", fault) == ("struck", [])


@pytest.mark.parametrize(
    "fault",
    [
        Fault("pwrite64", "EINTR", "memory.db-wal", 1),
        Fault("openat", "EINTR", "memory.db", 1),
        Fault("write", "EINTR", "anchors", 1),
        Fault("fdatasync", "EIO", "memory.db", 2, lasting=True),  # the log holds what could not be moved
        Fault("ftruncate", "EIO", "memory.db-wal", 1, lasting=True),  # what was erased is pending
    ],
    ids=lambda fault: f"{fault.call}-{fault.error}-{fault.file}",
)
def test_i2_a_call_that_is_made_again_is_no_error(tmp_path: Path, fault: Fault) -> None:
    assert strike(tmp_path / "struck", fault) == ("", [])
