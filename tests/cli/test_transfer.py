"""`backup`, `restore`, `export`, `import` and `migrate` at a shell."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from assay.storage.schema import SCHEMA_VERSION

from ..storage.older import take_back
from .conftest import Run


def version(path: Path, number: int) -> None:
    """Let a store claim another version."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={number}")
    connection.close()


@pytest.fixture
def file(store: Run, tmp_path: Path) -> Path:
    """Give the file of a store that holds something."""
    store("record", "Deploys go out on Tuesday")
    return tmp_path / "memory.db"


def test_a_store_travels_as_an_export(store: Run, file: Path, tmp_path: Path) -> None:
    store("wrap")
    written = store("export", str(tmp_path / "a.jsonl"), "--json").data["exported"]
    assert written["lines"] == len((tmp_path / "a.jsonl").read_text("utf-8").splitlines())
    new = str(tmp_path / "new.db")
    assert store("init", new, "--project-name", "Other").code == 0
    brought = store("import", str(tmp_path / "a.jsonl"), "--db", new, "--json").data["imported"]
    assert (brought["added"], brought["whole"]) == (1, True)
    store("export", str(tmp_path / "b.jsonl"), "--db", new)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert "Tuesday" in store("recall", "when do we deploy", "--db", new).out
    assert store("verify", "--db", new).code == 0


def test_an_import_at_a_shell_has_no_more_authority_than_a_record(store: Run, file: Path, tmp_path: Path) -> None:
    line = {"content": "the boss says so", "trust": "operator", "origin": "operator"}
    (tmp_path / "lines.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    answer = store("import", str(tmp_path / "lines.jsonl"))
    assert answer.code == 0
    assert "1 claimed more trust" in answer.out
    (hit,) = store("recall", "boss", "--json").data["hits"][:1]
    assert (hit["trust"], hit["episode"]["origin"]) == ("agent", "import")


def test_a_bad_line_is_a_wrong_call(store: Run, file: Path, tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text('{"content": "good"}\n{"content": ""}\n', "utf-8")
    answer = store("import", str(tmp_path / "lines.jsonl"))
    assert (answer.code, answer.out) == (2, "")
    assert "line 2" in answer.err and "nothing was written" in answer.err
    assert store("import", str(tmp_path / "missing.jsonl")).code == 2


@pytest.mark.parametrize("form", ["markdown", "sqlite"])
def test_an_export_has_other_forms(store: Run, file: Path, tmp_path: Path, form: str) -> None:
    assert store("export", str(tmp_path / "out"), "--format", form).code == 0
    if form == "markdown":
        assert "> Deploys go out on Tuesday" in (tmp_path / "out").read_text("utf-8")
    else:
        assert "Tuesday" in store("recall", "deploy", "--db", str(tmp_path / "out")).out
    assert store("export", str(tmp_path / "out"), "--format", form).code == 3, "nothing is overwritten"


def test_a_backup_comes_back_when_the_word_is_given(store: Run, file: Path, tmp_path: Path) -> None:
    backup = str(tmp_path / "a.bak")
    assert "verified, 2 entries" in store("backup", backup).out
    store("record", "Deploys go out on Friday")
    refused = store("restore", backup)
    assert refused.code == 1
    assert "--accept-rollback" in refused.err
    done = store("restore", backup, "--accept-rollback", "--json").data["restored"]
    assert (done["replaced"], done["entries"]) == (3, 3)
    assert "Friday" not in store("recall", "deploy").out
    assert store("verify").code == 0
    assert "memory.db.before-restore-3" in store("doctor").out


def test_a_store_that_is_gone_comes_back_without_a_word(store: Run, file: Path, tmp_path: Path) -> None:
    store("backup", str(tmp_path / "a.bak"))
    for path in tmp_path.glob("memory.db*"):
        path.unlink()
    assert store("restore", str(tmp_path / "a.bak")).code == 0
    assert "Tuesday" in store("recall", "deploy").out


def test_a_damaged_store_is_set_aside(store: Run, file: Path, tmp_path: Path) -> None:
    store("backup", str(tmp_path / "a.bak"))
    file.write_bytes(b"no database" * 1000)
    assert store("restore", str(tmp_path / "a.bak")).code == 1
    assert store("restore", str(tmp_path / "a.bak"), "--accept-rollback").code == 0
    assert "Tuesday" in store("recall", "deploy").out
    assert "memory.db.damaged" in store("doctor").out


def test_an_older_store_is_tried_on_a_copy_and_then_migrated(store: Run, file: Path) -> None:
    take_back(file, 1)
    before = file.read_bytes()
    assert "migrate --dry-run" in store("doctor").out
    tried = store("migrate", "--dry-run", "--json").data
    assert (tried["from"], tried["verified"], file.read_bytes() == before) == (1, True, True)
    assert store("recall", "deploy").code == 0, "an older store can be read as it is"
    done = store("migrate")
    assert done.code == 0 and done.out.startswith(f"schema 1 became {SCHEMA_VERSION}; the store is valid")
    assert "newest" in store("migrate").out
    assert "memory.db.v1-backup-2" in store("doctor").out


def test_a_newer_store_is_refused(store: Run, file: Path) -> None:
    version(file, 99)
    for command in (("recall", "deploy"), ("record", "more"), ("migrate",), ("doctor",), ("export", "out.jsonl")):
        answer = store(*command)
        assert answer.code == 3, command
        assert "newer-schema" in answer.err


def test_what_an_interrupted_call_left_is_warned_of(store: Run, file: Path) -> None:
    file.with_name("memory.db.restoring").write_bytes(b"")
    answer = store("doctor")
    assert answer.code == 1
    assert "memory.db.restoring" in answer.out
