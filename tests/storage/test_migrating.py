"""An older store becomes a newer one whole, or stays what it was, whatever happens on the way."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.errors import AssayError, ForeignDatabase, NewerSchema
from assay.storage import connection, copying, schema
from assay.storage.schema import SCHEMA_VERSION
from assay.transfer.rehearsing import rehearse

from . import faults
from .faults import Faults, Faulty
from .older import take_back
from .test_golden import GOLDEN, load

OLDER = range(1, SCHEMA_VERSION)
TEXT = "Friday deploys were rolled back: nobody watched the dashboards"


def raw(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def shape(path: Path) -> tuple[int, str]:
    file = raw(path)
    found = file.execute("PRAGMA user_version").fetchone()[0], schema.digest(file)
    file.close()
    return found


def rows(path: Path) -> list[Any]:
    """Give every row of every table that the oldest schema had, but for the log's own end."""
    file = raw(path)
    tables = ("episode", "edge", "belief", "evidence", "wrap", "document", "result", "setting", "tombstone", "meta")
    found = [file.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]
    file.close()
    return found


def migrations(store: Store) -> list[Any]:
    """Give what the log says of each migration."""
    return [entry["data"] for entry in store.audit.entries(limit=1000) if entry["op"] == "migrate"]


@pytest.fixture(params=OLDER, ids="from {}".format)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give a store as each earlier release wrote it."""
    load(GOLDEN / f"store_{request.param}.sql", tmp_path / "memory.db")
    return tmp_path / "memory.db"


def test_every_earlier_schema_is_migrated_by_opening_it(older: Path) -> None:
    before, held = shape(older), rows(older)
    with Store(older, session="s1") as store:
        assert store.verify()
        steps = [(step["from"], step["to"]) for step in migrations(store)]
        assert steps == [(at, at + 1) for at in range(before[0], SCHEMA_VERSION)]
        assert store.status().schema_version == SCHEMA_VERSION
        store.record("and it goes on")
        assert store.verify()
    assert rows(older)[1:] == held[1:]
    with Store(older.with_name("new.db")):
        pass
    assert shape(older) == shape(older.with_name("new.db")), "the tables of a new one, to the letter"


def test_the_store_as_it_was_is_kept_and_opens_again(older: Path) -> None:
    before, held = shape(older), rows(older)
    with Store(older) as store:
        kept = older.with_name(migrations(store)[0]["backup"])
    assert kept.name.startswith(f"memory.db.v{before[0]}-backup-")
    assert (shape(kept), rows(kept)) == (before, held)
    if os.name == "posix":
        assert kept.stat().st_mode & 0o777 == 0o600
    with Store(kept, read_only=True) as store:
        assert store.recall("dashboards")[0].text == TEXT
    assert not list(older.parent.glob("*.part"))


def test_reading_alone_migrates_nothing(older: Path) -> None:
    before = older.read_bytes()
    with Store(older, read_only=True) as store:
        assert store.verify()
        assert store.status().schema_version == shape(older)[0]
        assert store.recall("dashboards")[0].text == TEXT
        assert store.audit.head()[0] > 0
    assert older.read_bytes() == before
    assert not list(older.parent.glob("*backup*"))


def test_a_rehearsal_says_what_would_come_out_and_touches_nothing(older: Path) -> None:
    before = older.read_bytes()
    assert rehearse(str(older))
    assert older.read_bytes() == before
    assert {path.name for path in older.parent.iterdir()} <= {"memory.db", "memory.db-wal", "memory.db-shm"}


def test_a_later_version_only_adds_tables() -> None:
    for number in range(2, SCHEMA_VERSION + 1):
        script = (Path(schema.__file__).with_name(f"schema_{number}.sql")).read_text("utf-8")
        code = "".join(line for line in script.splitlines(keepends=True) if not line.startswith("--"))
        statements = [statement.split() for statement in code.split(";") if statement.strip()]
        # What reads an older file is lent these tables in memory, which works for nothing else.
        assert {(words[0], words[1]) for words in statements} <= {("CREATE", "TABLE"), ("CREATE", "INDEX")}


def test_tiles_of_an_older_log_are_made_in_the_migration(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.episodes.record_many([{"content": f"event {number}"} for number in range(600)])
    take_back(path, 1)
    with Store(path, read_only=True) as store:
        assert store.verify(), "an older log needs no tiles"
    with Store(path) as store:
        assert store.verify()
    file = raw(path)
    assert file.execute("SELECT count(*) FROM tile WHERE level = 0").fetchone() == (2,)
    file.close()


def test_an_altered_older_store_is_refused_and_left_alone(older: Path) -> None:
    file = raw(older)
    file.execute("CREATE TRIGGER theirs AFTER INSERT ON episode BEGIN DELETE FROM audit; END")
    file.close()
    before = shape(older)
    for read_only in (True, False):
        with pytest.raises(ForeignDatabase, match="altered"):
            Store(older, read_only=read_only)
    assert shape(older) == before


def test_i26_a_newer_store_is_refused_also_to_read(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.record("kept")
    file = raw(tmp_path / "memory.db")
    file.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    file.close()
    before = (tmp_path / "memory.db").read_bytes()
    for read_only in (True, False):
        with pytest.raises(NewerSchema):
            Store(tmp_path / "memory.db", read_only=read_only)
    assert (tmp_path / "memory.db").read_bytes() == before


def test_i26_an_open_store_writes_nothing_into_one_that_was_migrated_meanwhile(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.record("before")
        file = raw(tmp_path / "memory.db")
        file.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
        with pytest.raises(NewerSchema):
            store.record("meanwhile")
        file.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        file.close()
        store.record("afterwards")
        assert [episode.content for episode in store.episodes.list()] == ["before", "afterwards"]


def test_two_processes_that_open_an_older_store_migrate_it_once(older: Path) -> None:
    script = f"from assay import Store\nStore({str(older)!r}).close()"
    others = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE) for _ in range(4)]
    assert [(other.communicate()[1], other.returncode)[1] for other in others] == [0] * 4
    with Store(older) as store:
        steps = migrations(store)
        assert len(steps) == SCHEMA_VERSION - shape(older.with_name(steps[0]["backup"]))[0]
        assert store.verify()


# -- killed or failing at each statement ---------------------------------------------------------------------------


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Faulty]]:
    """Let every connection be one that can fail; none does until `left` is set."""
    for module in (connection, copying):
        monkeypatch.setattr(module, "sqlite3", Faults())
    yield Faulty
    Faulty.left = -1


def intact(path: Path, before: tuple[int, str], held: list[Any]) -> None:
    """Check that the store is as it was or whole at a later version, and that opening it mends everything else."""
    found = shape(path)
    assert found == before or before[0] < found[0] <= SCHEMA_VERSION, found
    assert rows(path) == held
    with Store(path) as store:
        assert store.verify(), store.verify()
        assert len(migrations(store)) == SCHEMA_VERSION - before[0]
    assert not list(path.parent.glob("*.part")), "no temporary file after an opening"
    kept = {int(copy.name.split(".v")[1].split("-")[0]) for copy in path.parent.glob("*backup*")}
    assert kept == {before[0]} | ({found[0]} - {SCHEMA_VERSION}), "one copy for each version that was left behind"


def test_t15_a_failure_at_each_statement_leaves_the_old_schema(
    older: Path, tmp_path: Path, faulty: type[Faulty]
) -> None:
    before, held = shape(older), rows(older)
    for at in range(1, 500):
        path = tmp_path / f"{at}" / "memory.db"
        path.parent.mkdir()
        path.write_bytes(older.read_bytes())
        faulty.left = at
        try:
            Store(path).close()
            reached = faulty.left > 0
        except AssayError:
            reached = False
        faulty.left = -1
        intact(path, before, held)
        if reached:
            assert at > 20, "the migration was in reach of the faults"
            return
    raise AssertionError("the migration has no end")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_t15_a_kill_at_each_statement_leaves_the_old_schema(older: Path, tmp_path: Path) -> None:
    before, held = shape(older), rows(older)
    for at in range(1, 500):
        path = tmp_path / f"{at}" / "memory.db"
        path.parent.mkdir()
        path.write_bytes(older.read_bytes())
        command = [sys.executable, faults.__file__, str(path), str(at)]
        code = subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode
        intact(path, before, held)
        if code == 0:
            assert at > 20, "the migration was in reach of the kills"
            return
        assert code == -signal.SIGKILL
    raise AssertionError("the migration has no end")
