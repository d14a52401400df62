"""The torture suite in a size for every change; `python -m bench torture` runs the whole of it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from bench.torture import audit_cost, bitflips, erase, kill, powercut, sharing, writers

from assay import AssayError, Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and traces of POSIX")


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes that a part starts find `bench`."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)


def test_i2_i3_i7_writers_of_everything_are_killed_and_nothing_is_lost_unaudited_or_stuck(tmp_path: Path) -> None:
    found = kill.measure(tmp_path, long=False, rounds=12)
    assert found["acked"] > 12
    assert (found["lost"], found["unaudited"], found["stuck"]) == (0, 0, 0)


def _can_trace() -> bool:
    try:
        done = subprocess.run(["strace", "-o", "/dev/null", sys.executable, "-c", ""], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


@pytest.mark.skipif(not _can_trace(), reason="strace is not installed, or may not trace here")
def test_i2_a_power_cut_loses_nothing_that_was_acknowledged_and_without_flushes_it_would(tmp_path: Path) -> None:
    found = powercut.measure(tmp_path, long=False, cuts=60)
    assert found["lost"] == 0
    assert found["control_lost"] > 0


def test_i13_a_flipped_bit_that_changes_what_a_store_says_is_an_error_or_found_by_verify(tmp_path: Path) -> None:
    found = bitflips.measure(tmp_path, long=False, flips=200)
    assert found["changed"] > 10
    assert found["undetected"] == 0


def test_i13_a_flipped_bit_that_makes_bytes_of_the_schema_s_text_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store(path).close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("PRAGMA writable_schema=ON")
        file.execute("UPDATE sqlite_master SET sql=CAST(sql AS BLOB) WHERE name='edge_source'")
    with pytest.raises(AssayError):
        Store(path)


def test_i17_erased_secrets_are_in_no_file_in_any_coding(tmp_path: Path) -> None:
    assert erase.measure(tmp_path, long=False, count=10) == {"secrets": 10, "residue": 0, "pending": 0}


def test_i8_i10_i12_children_threads_and_tasks_share_one_store(tmp_path: Path) -> None:
    every = {"forked_percent": 100, "threads_percent": 100, "tasks_percent": 100, "errors": 0}
    assert sharing.measure(tmp_path, long=False) == every


def test_i9_sixteen_writers_at_once_all_get_their_turn(tmp_path: Path) -> None:
    assert writers.measure(tmp_path, long=False)["errors"] == 0


def test_t12_the_store_that_the_cost_of_the_log_is_measured_against_has_none(tmp_path: Path) -> None:
    found = audit_cost.measure(tmp_path, long=False, records=30)
    assert min(found["with_us"], found["without_us"]) > 0
    with Store(tmp_path / "without.db", read_only=True) as bare, Store(tmp_path / "with.db", read_only=True) as audited:
        assert len(bare.episodes.list()) == len(audited.episodes.list()) == 30
        assert (bare.verify(index=False).entries, audited.verify().entries) == (1, 31)
        assert audited.verify()
