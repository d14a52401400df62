"""Commit, queue, fork and failure: what was acknowledged is there, and what failed wrote nothing."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from assay import Kind, Store
from assay.errors import Busy, Closed, Damaged, ForeignDatabase, InvalidInput, NewerSchema, ReadOnly, StorageFailure
from assay.storage import schema
from assay.storage.operational import OperationalWriter
from assay.storage.transaction import Transaction

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file modes, fork and resource limits")


def raw(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_i2_a_record_that_returned_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    script = f"import os\nfrom assay import Store\nStore({str(path)!r}).record('kept')\nos._exit(9)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    with Store(path) as store:
        assert [episode.content for episode in store.episodes.list()] == ["kept"]
        assert store.verify()


def test_a_record_adds_little_to_the_log(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.episodes.record_many({"content": f"remark {at} of topic{at % 97}"} for at in range(3_000))
        store.record("so that the reader sees the newest state")
        reader, look = raw(path), raw(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM head").fetchone()  # keeps the log from starting anew
        frames = [int(look.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])]
        for at in range(512):
            store.record(f"another remark, {at}, of topic{at % 97} x{at:x}")
        frames.append(look.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])
        (page,) = look.execute("PRAGMA page_size").fetchone()
        reader.close()
        look.close()
    assert (frames[1] - frames[0]) * (page + 24) / 512 <= 20_000


def half_a_change(tx: Transaction) -> None:
    tx.entry("record", actor="x")
    tx.put_setting("a", 1)
    raise KeyError("gone")


def test_i2_an_error_inside_a_change_writes_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        with pytest.raises(KeyError):
            store._database.mutate(half_a_change)
        store.record("afterwards")
        assert store.audit.head()[0] == 2
        assert store.verify()


def test_i6_a_row_needs_an_audit_entry(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store, pytest.raises(RuntimeError, match="audit entry"):
        store._database.mutate(lambda tx: tx.put_setting("a", 1))


def test_i6_the_operational_door_reaches_no_audited_table(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.record("kept")
        for statement in (
            "DELETE FROM episode",
            "UPDATE audit SET entry=x''",
            "DELETE FROM meta",
            "PRAGMA user_version=9",
        ):
            with pytest.raises(StorageFailure):
                store._database.operational(partial(OperationalWriter.execute, sql=statement))
        assert store.verify()
        assert len(store.episodes.list()) == 1


def test_i8_threads_share_one_store(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        errors: list[BaseException] = []

        def work(name: int) -> None:
            try:
                for at in range(50):
                    store.record(f"thread {name} wrote {at}")
                    assert store.recall(f"thread {name}")
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert store.status().episodes == 400
        assert store.verify()


def test_i8_a_store_in_memory_has_one_connection_for_all() -> None:
    with Store(":memory:") as store:
        store.record("held in memory")
        threads = [threading.Thread(target=store.record, args=(f"from thread {at}",)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.status().episodes == 5
        assert store.verify()


def test_i11_a_foreign_lock_ends_in_busy_at_the_deadline(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path, timeout=0.3) as store:
        store.record("before")
        other = raw(path)
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.raises(Busy, match="nothing was written"):
            store.record("meanwhile")
        assert time.monotonic() - began < 5
        other.execute("ROLLBACK")
        other.close()
        store.record("afterwards")
        assert [episode.content for episode in store.episodes.list()] == ["before", "afterwards"]


@posix
def test_i11_a_held_queue_ends_in_busy_and_is_free_afterwards(tmp_path: Path) -> None:
    import fcntl

    path = tmp_path / "memory.db"
    with Store(path, timeout=0.3) as store:
        store.record("before")
        fd = os.open(f"{path}-q", os.O_RDWR)
        fcntl.flock(fd, fcntl.LOCK_EX)
        with pytest.raises(Busy):
            store.record("meanwhile")
        os.close(fd)
        store.record("afterwards")
        assert store.status().episodes == 2


def test_i12_an_interrupt_leaves_no_open_transaction_and_no_held_queue(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def interrupted(tx: object) -> None:
        raise KeyboardInterrupt

    with Store(path, timeout=2) as store, Store(path, timeout=2) as other:
        with pytest.raises(KeyboardInterrupt):
            store._database.mutate(interrupted)
        other.record("another process has its turn")
        store.record("and so have we")
        assert store.verify()


@posix
def test_i10_a_forked_child_reopens_and_both_write(tmp_path: Path) -> None:
    script = f"""
import os
from assay import Store
store = Store({str(tmp_path / "memory.db")!r})
store.record("before the fork")
list(store.recall("fork"))
children = []
for child in range(3):
    pid = os.fork()
    if pid == 0:
        for at in range(20):
            store.record(f"child {{child}} wrote {{at}}")
        os._exit(0)
    children.append(pid)
for at in range(20):
    store.record(f"the parent wrote {{at}}")
assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
assert store.status().episodes == 81, store.status().episodes
assert store.verify(), store.verify()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@posix
def test_i10_a_child_forked_inside_a_change_cannot_commit_it(tmp_path: Path) -> None:
    script = f"""
import os, sys
from assay import Store
from assay.errors import StorageFailure
store = Store({str(tmp_path / "memory.db")!r})
pids = []
def change(tx):
    tx.entry("setting", actor="test")
    tx.put_setting("forked", 1)
    pids.append(os.fork())
try:
    store._database.mutate(change)
except StorageFailure:
    os._exit(7 if pids == [0] else 1)
if pids == [0]:
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]) == 7
assert store.audit.head()[0] == 2 and store.verify()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_database_of_another_program_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with raw(path) as other:
        other.execute("CREATE TABLE theirs(x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(ForeignDatabase, match="another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, please keep them " * 100)
    with pytest.raises(ForeignDatabase, match="not an SQLite database"):
        Store(path)
    assert path.read_text().startswith("these are my notes")


def test_a_folder_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ForeignDatabase, match=r"memory\.db"):
        Store(tmp_path)


def test_i26_a_newer_schema_is_refused_for_reading_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store(path).close()
    with raw(path) as other:
        other.execute(f"PRAGMA user_version={schema.SCHEMA_VERSION + 1}")
    other.close()
    for read_only in (False, True):
        with pytest.raises(NewerSchema, match="upgrade"):
            Store(path, read_only=read_only)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER sneaky AFTER INSERT ON episode BEGIN DELETE FROM audit; END",
        "CREATE VIEW extra AS SELECT * FROM episode",
        "CREATE TABLE extra(x)",
        "ALTER TABLE episode ADD COLUMN extra TEXT",
        "DROP INDEX episode_text",
    ],
)
def test_i26_an_altered_schema_is_refused(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "memory.db"
    Store(path).close()
    with raw(path) as other:
        other.execute(statement)
    other.close()
    with pytest.raises(ForeignDatabase, match="altered"):
        Store(path)


def test_the_digest_of_the_schema_is_that_of_its_script() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.create(connection)
    schema.check(connection, ":memory:")
    connection.close()


def test_i27_read_only_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.record("kept")
    Path(f"{path}-q").unlink(missing_ok=True)
    with Store(path, read_only=True) as reader:
        assert [hit.text for hit in reader.recall("kept")] == ["kept"]
        assert reader.verify()
        with pytest.raises(ReadOnly, match="read-only"):
            reader.record("more")
    assert not Path(f"{path}-q").exists()


def test_read_only_creates_no_store(tmp_path: Path) -> None:
    with pytest.raises(StorageFailure, match="does not exist"):
        Store(tmp_path / "absent.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path / "memory.db")
    store.close()
    store.close()
    with pytest.raises(Closed, match="open a new Store"):
        store.recall("x")
    with pytest.raises(Closed, match="open a new Store"):
        store.record("x")


@posix
def test_files_and_folders_are_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "memory.db"
    old = os.umask(0o022)
    try:
        with Store(path) as store:
            store.record("private")
            for file in path.parent.iterdir():
                assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    finally:
        os.umask(old)


@posix
def test_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(StorageFailure, match="symbolic link"):
        Store(tmp_path / "link.db")
    assert not (tmp_path / "elsewhere.db").exists()


@posix
def test_a_full_disk_is_a_clean_error_and_nothing_is_lost(tmp_path: Path) -> None:
    script = f"""
import resource, signal
from assay import Store
from assay.errors import StorageFailure
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store({str(tmp_path / "memory.db")!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
kept = []
try:
    for at in range(500):
        kept.append(store.record(f"{{at}} " + "x" * 5000).ref)
except StorageFailure as error:
    assert error.code in ("storage-failure", "outcome-unknown"), error.code
else:
    raise SystemExit("the limit did not bite")
print(len(kept))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    with Store(tmp_path / "memory.db") as store:
        assert store.status().episodes >= int(done.stdout)
        assert store.verify()
        store.record("and it goes on")


def test_i5_the_clock_going_back_keeps_the_order_and_the_raw_value(tmp_path: Path) -> None:
    times = iter([datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC)])
    now = [datetime(2030, 1, 1, tzinfo=UTC)]
    with Store(tmp_path / "memory.db", clock=lambda: next(times, now[0])) as store:
        store.record("first")
        now[0] = datetime(2020, 1, 1, tzinfo=UTC)
        late = store.record("the clock was set back")
        entries = store.audit.entries()
        assert [entry["ts"] for entry in entries] == sorted(entry["ts"] for entry in entries)  # type: ignore[type-var]
        assert "wall" in entries[-1] and "wall" not in entries[0]
        assert late.recorded_at >= datetime(2030, 1, 1, tzinfo=UTC)
        assert store.verify()


def test_closing_while_others_write_ends_every_call_cleanly(tmp_path: Path) -> None:
    script = f"""
import threading, time
from assay import Store
from assay.errors import AssayError
for at in range(12):
    store = Store({str(tmp_path)!r} + f"/m{{at}}.db")
    def work():
        try:
            while True:
                store.record("t")
                store.recall("t")
        except AssayError as error:
            assert error.code == "closed", error
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.02)
    store.close()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@posix
@pytest.mark.parametrize("others", [0, 1], ids=["alone", "beside-a-writer"])
def test_i12_interrupts_at_any_moment_leave_the_store_usable(tmp_path: Path, others: int) -> None:
    script = f"""
import random, signal, subprocess, sys, time
from assay import Store
class Interrupt(BaseException):
    pass
def interrupt(*_):
    raise Interrupt
path = {str(tmp_path / "memory.db")!r}
writer = "import sys; from assay import Store; store = Store(sys.argv[1]); [store.record('mine') for _ in range(1500)]"
store = Store(path, timeout=10)
verbs = [lambda: store.record("x"), lambda: store.recall("x"), lambda: store.episodes.list(limit=1)]
for verb in verbs:
    verb()
signal.signal(signal.SIGALRM, interrupt)
beside = [subprocess.Popen([sys.executable, "-c", writer, path]) for _ in range({others})]
dice, hits, done = random.Random(3), 0, 0
until = time.monotonic() + 3
while time.monotonic() < until:
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, dice.uniform(0.0001, 0.004))
            dice.choice(verbs)()
            done += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupt:
        hits += 1
assert hits > 20 and done > 20, (hits, done)
assert [process.wait() for process in beside] == [0] * len(beside)
store.record("still usable")
with Store(path, timeout=5) as other:
    other.record("by others too")
assert store.verify(), store.verify()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=90, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@posix
def test_coroutines_work_in_a_forked_child(tmp_path: Path) -> None:
    script = f"""
import asyncio, os
from assay import Store
store = Store({str(tmp_path / "memory.db")!r})
asyncio.run(store.aio.record("in the parent"))
pid = os.fork()
if pid == 0:
    asyncio.run(asyncio.wait_for(store.aio.record("in the child"), 10))
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert store.status().episodes == 2
store.close()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_only_durable_modes_are_accepted(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="FULL or NORMAL"):
        Store(tmp_path / "memory.db", synchronous="OFF")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.recall(session="\ud800"),
        lambda store: store.erase(store.record("x"), reason="\ud800"),
        lambda store: store.result(store.record("x"), True, note="\ud800"),
        lambda store: store.episodes.list(after=2**70),
        lambda store: store.audit.entries(2**70),
        lambda store: store.continuity.text(2**70),
        lambda store: store.history.changes("\ud800"),
        lambda store: store.authority.claim("\ud800"),
        lambda store: store.recall("x", since="999999w"),
        lambda store: store.recall("x", since="²d"),
        lambda store: store.recall("x", after="²"),
        lambda store: store.record("x", happened_at=5),
        lambda store: store.record("x", tags=5),
        lambda store: store.record("x", metadata="abc"),
        lambda store: store.record("x", idempotency_key=5),
        lambda store: store.record("x", Kind.OUTCOME, success="yes"),
        lambda store: store.authority.set(policy=["x"]),
    ],
)
def test_what_cannot_be_stored_is_a_typed_error(tmp_path: Path, call: Callable[[Store], object]) -> None:
    with Store(tmp_path / "memory.db") as store:
        with pytest.raises(InvalidInput):
            call(store)
        assert store.verify()


def test_i25_a_row_that_nobody_has_written_so_is_reported_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        ref = store.record("the pool holds 40 connections").ref
    changes = {"kind": "observatkon", "trust": "agenu", "metadata": "{", "happened": 2**62}
    file = raw(path)
    for column, value in changes.items():
        (true,) = file.execute(f"SELECT {column} FROM episode").fetchone()
        file.execute(f"UPDATE episode SET {column} = ?", (value,))
        with Store(path) as store, pytest.raises(Damaged, match="doctor"):
            store.episodes.get(ref)
        file.execute(f"UPDATE episode SET {column} = ?", (true,))
    file.close()
    with Store(path) as store:
        assert store.episodes.get(ref).content and store.verify()
