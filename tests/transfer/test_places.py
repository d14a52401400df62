"""What lies beside a file that is written, or stands in its way, neither gets into it nor is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay import Store
from assay.cli.surroundings import kept
from assay.errors import AssayError, Conflict, InvalidInput, StorageFailure
from assay.storage.schema import SCHEMA_VERSION
from assay.transfer.restore import Restored, restore

KILLED = """
import os, sys
from assay import Store
store = Store(sys.argv[1])
for number in range(5):
    store.record(f"lost remark {number}")
os.kill(os.getpid(), 9)
"""


def put_back(backup: Path, target: Path, **options: bool | str) -> Restored:
    return restore(str(backup), str(target), actor="operator", principal="test", **options)  # type: ignore[arg-type]


def contents(path: Path) -> list[str]:
    with Store(path, read_only=True) as store:
        assert store.verify()
        return [episode.content for episode in store.episodes.list(limit=100)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give a store whose backup is `a.bak`, and whose last writer was killed: its log holds what came later."""
    with Store(tmp_path / "memory.db") as store:
        store.record("first")
        store.transfer.backup(tmp_path / "a.bak")
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "memory.db")], check=False)
    assert (tmp_path / "memory.db-wal").stat().st_size > 0
    return tmp_path / "memory.db"


def test_the_log_of_a_store_that_is_gone_does_not_get_into_the_restored_one(path: Path) -> None:
    log = path.with_name("memory.db-wal").read_bytes()
    path.unlink()
    with pytest.raises(Conflict, match="cannot be read, so nobody knows how far it went"):
        put_back(path.with_name("a.bak"), path)
    done = put_back(path.with_name("a.bak"), path, accept_rollback=True)
    assert contents(path) == ["first"]
    assert kept(path) == [Path(done.kept).name], "`assay doctor` names it"
    assert Path(done.kept).read_bytes() == log, "what was committed last can still be looked at"


def test_a_log_beside_the_target_does_not_get_into_a_backup(path: Path) -> None:
    stale = path.with_name("b.bak-wal")
    stale.write_bytes(path.with_name("memory.db-wal").read_bytes())
    with Store(path) as store, pytest.raises(StorageFailure, match=r"b\.bak-wal exists"):
        store.transfer.backup(path.with_name("b.bak"))
    assert not path.with_name("b.bak").exists()


def test_i28_anchors_of_another_store_do_not_pass_for_an_agreement(path: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "other.db") as other:
        other.audit.anchor(tmp_path / "anchors")
    target = tmp_path / "elsewhere.db"
    with pytest.raises(Conflict, match="none of the anchors is of assay/"):
        put_back(path.with_name("a.bak"), target, anchors=str(tmp_path / "anchors"))
    assert not target.exists()


def test_two_restores_at_once_do_not_meet(path: Path) -> None:
    script = (
        "import sys\nfrom assay.transfer.restore import restore\nfrom assay.errors import Conflict\n"
        "for _ in range(3):\n"
        "    try: restore(sys.argv[1], sys.argv[2], actor='operator', principal='test', accept_rollback=True)\n"
        "    except Conflict: pass\n"
    )
    command = [sys.executable, "-c", script, str(path.with_name("a.bak")), str(path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[1] for process in running] == [b"", b"", b""]
    assert contents(path) == ["first"]
    assert not list(path.parent.glob("*restoring*"))


def test_no_copy_is_spoken_of_that_is_thrown_away(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    backup = path.with_name("a.bak")
    golden = Path(__file__).parents[1] / "storage/golden/store_1.sql"
    for file in (backup, path, path.with_name("memory.db-wal")):
        file.unlink()
    with sqlite3.connect(backup) as connection:
        connection.executescript(golden.read_text("utf-8"))
    connection.close()
    put_back(backup, path)
    with Store(path) as store:
        migrated = [entry["data"] for entry in store.audit.entries() if entry["op"] == "migrate"]
        assert migrated == [{"from": at, "to": at + 1} for at in range(1, SCHEMA_VERSION)]
    assert "is kept as" not in caplog.text


@pytest.mark.parametrize(
    "use",
    [
        lambda store, place: store.transfer.backup(place),
        lambda store, place: store.transfer.export_jsonl(place),
        lambda store, place: store.transfer.export_markdown(place),
        lambda store, place: store.transfer.import_jsonl(place),
        lambda store, place: store.transfer.import_from("brainmem", place),
        lambda store, place: store.transfer.restore(place),
        lambda store, place: put_back(place.with_name("a.bak"), place),
    ],
)
def test_a_path_that_leads_nowhere_is_a_typed_error(tmp_path: Path, use: Callable[[Store, Path], object]) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.transfer.backup(tmp_path / "a.bak")
        with pytest.raises(AssayError):
            use(store, tmp_path / ("x" * 300))
        assert store.verify()


@pytest.mark.skipif(os.name != "posix", reason="there are no file modes")
def test_a_key_that_others_may_read_is_called_that(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    from assay import Signer

    Signer.create(tmp_path / "key.pem")
    (tmp_path / "key.pem").chmod(0o644)
    with pytest.raises(InvalidInput) as caught:
        Signer.from_file(tmp_path / "key.pem")
    assert "chmod 600" in str(caught.value) and "that can be read" not in str(caught.value)
