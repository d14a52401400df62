"""`status`, `verify` and `doctor` tell the truth about a store, and change nothing."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from assay.cli.surroundings import file_system, modes, synced
from assay.storage import condition

from .conftest import Run

OK, WARNING, TAMPERED, DAMAGED = range(4)


@pytest.fixture
def modern(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the library of this machine count as new enough."""
    monkeypatch.setattr("assay.cli.doctor.SAFE_VERSION", sqlite3.sqlite_version_info)


@pytest.fixture
def file(store: Run, tmp_path: Path) -> Path:
    """Give the file of a store that holds something."""
    store("record", "Deploys go out on Tuesday")
    return tmp_path / "memory.db"


def states(run: Run) -> tuple[int, dict[str, str]]:
    answer = run("doctor", "--json")
    return answer.code, {check["name"]: check["state"] for check in answer.data["checks"]}


def edit(file: Path, sql: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute(sql)
    connection.commit()
    connection.close()


def test_status_counts_and_shows_no_content(store: Run, file: Path) -> None:
    answer = store("status")
    assert answer.code == 0
    assert "1, 1 not wrapped yet" in answer.out
    assert "Tuesday" not in answer.out
    assert "no passphrase" in answer.out
    data = store("status", "--json").data
    assert (data["status"]["project"], data["status"]["episodes"], data["authority"]) == ("Demo", 1, "unprotected")


def test_a_sound_store_is_sound(store: Run, file: Path, modern: None) -> None:
    code, found = states(store)
    assert (code, set(found.values())) == (OK, {"ok"})
    assert store("verify").out.startswith("valid: 2 entries")


def test_an_old_library_is_warned_of(store: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.cli.doctor.SAFE_VERSION", (99, 0, 0))
    code, found = states(store)
    assert (code, found["sqlite"]) == (WARNING, "warning")
    assert condition.SAFE_VERSION == (3, 51, 3)


def test_an_edited_row_is_tampering(store: Run, file: Path, modern: None) -> None:
    edit(file, "UPDATE episode SET content = 'Deploys go out on Friday'")
    code, found = states(store)
    assert (code, found["audit"]) == (TAMPERED, "tampered")
    verified = store("verify")
    assert verified.code == 1
    assert "episode" in verified.out


def test_an_added_trigger_is_tampering(store: Run, file: Path, modern: None) -> None:
    edit(file, "CREATE TRIGGER theirs AFTER INSERT ON episode BEGIN DELETE FROM audit; END")
    code, found = states(store)
    assert (code, found["schema"]) == (TAMPERED, "tampered")


def test_a_broken_page_is_damage(store: Run, file: Path, modern: None) -> None:
    for number in range(50):
        store("record", f"event {number} " + "x" * 3000)
    before = bytearray(file.read_bytes())
    before[len(before) // 2 : len(before) // 2 + 5000] = os.urandom(5000)
    file.write_bytes(before)
    code, found = states(store)
    assert (code, found["pages"]) == (DAMAGED, "damaged")


def test_a_file_that_is_no_database_is_damage(store: Run, file: Path) -> None:
    file.write_bytes(b"no database" * 1000)
    assert states(store)[0] == DAMAGED


def test_doctor_changes_nothing(store: Run, file: Path) -> None:
    before = file.read_bytes()
    store("doctor")
    store("verify")
    store("status")
    assert file.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_files_that_others_may_read_are_warned_of(store: Run, file: Path, modern: None) -> None:
    assert modes(file) == ""
    file.chmod(0o644)
    code, found = states(store)
    assert (code, found["permissions"]) == (WARNING, "warning")


@pytest.mark.parametrize(
    ("path", "warned"),
    [("/mnt/share/memory.db", "nfs4"), ("/mnt/share two/memory.db", "cifs"), ("/mnt/local/memory.db", "")],
)
@pytest.mark.skipif(os.name != "posix", reason="mounts are POSIX")
def test_a_network_file_system_is_warned_of(tmp_path: Path, path: str, warned: str) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "disk / ext4 rw 0 0\nhost:/x /mnt/share nfs4 rw 0 0\n//host/y /mnt/share\\040two cifs rw 0 0\n", "utf-8"
    )
    found = file_system(Path(path), mounts)
    assert found.startswith(warned)
    assert bool(found) == bool(warned)


@pytest.mark.parametrize(("folder", "warned"), [("OneDrive - Company", True), ("Dropbox", True), ("work", False)])
def test_a_synced_folder_is_warned_of(folder: str, warned: bool) -> None:
    assert bool(synced(Path("/home") / folder / "memory.db")) is warned


def test_every_command_answers_in_json_with_stable_keys(store: Run, file: Path) -> None:
    expected: dict[tuple[str, ...], set[str]] = {
        ("status",): {"status", "authority"},
        ("verify",): {"verification"},
        ("doctor",): {"path", "state", "checks"},
        ("recall", "deploy"): {"hits", "patterns", "nothing_relevant", "next"},
        ("briefing", "deploy"): {"briefing"},
        ("continuity",): {"version", "text"},
        ("continuity", "versions"): {"versions"},
        ("continuity", "sections"): {"sections"},
        ("wrap", "status"): {"pending", "open_wrap", "wraps", "requires_baton", "baton"},
        ("wrap", "cancel"): {"cancelled"},
        ("baton", "status"): {"baton", "requires_baton"},
        ("record", "x"): {"episode"},
        ("wrap",): {"result"},
        ("--version",): {"version"},
    }
    answers: dict[tuple[str, ...], Any] = {arguments: store(*arguments, "--json").data for arguments in expected}
    assert {arguments: set(data) for arguments, data in answers.items()} == expected


def test_an_option_may_stand_before_the_command_or_behind_it(run: Run, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    assert run("--db", other, "init", "--no-baton").code == 0
    assert run("record", "x", "--db", other).code == 0
    assert run("--json", "status", "--db", other).data["status"]["episodes"] == 1


def test_a_roll_back_shows_against_an_anchor_and_an_old_anchor_is_a_warning(
    store: Run, file: Path, tmp_path: Path, modern: None
) -> None:
    before, anchors = file.read_bytes(), str(tmp_path / "anchors")
    store("record", "Deploys go out on Friday")
    assert store("audit", "anchor", anchors).code == 0
    assert store("doctor", "--anchors", anchors).code == OK
    old = store("doctor", "--anchors", anchors, "--anchor-max-age", "0")
    assert (old.code, "older than it may be" in old.out) == (WARNING, True)
    for ending in ("-wal", "-shm"):
        Path(f"{file}{ending}").unlink(missing_ok=True)
    file.write_bytes(before)
    assert store("doctor").code == OK, "without an anchor nobody can tell"
    assert store("doctor", "--anchors", anchors).code == TAMPERED


@pytest.mark.parametrize("command", ["verify", "doctor"])
@pytest.mark.parametrize("hours", ["1e20", "nan", "inf", "soon"])
def test_an_age_that_is_none_is_a_wrong_call(store: Run, file: Path, command: str, hours: str) -> None:
    answer = store(command, "--anchors", str(file), "--anchor-max-age", hours)
    assert answer.code == 2
    assert "invalid hours value" in answer.err


def test_what_is_no_store_is_called_that(store: Run, file: Path) -> None:
    def found(path: Path) -> str:
        answer = store("doctor", "--json", "--db", str(path))
        assert answer.code == DAMAGED
        return str(answer.data["checks"][0]["message"])

    empty, other = file.with_name("empty.db"), file.with_name("other.db")
    empty.write_bytes(b"")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE notes(text)")
    connection.close()
    assert "is empty: create a store" in found(empty)
    assert "another program" in found(other)
    assert "is a folder" in found(file.parent)


def test_a_proof_is_private_to_who_exports_it(store: Run, file: Path) -> None:
    proof = file.with_name("proof.json")
    assert store("audit", "export", "--proof", "1", "--content", "--out", str(proof)).code == 0
    assert os.name != "posix" or proof.stat().st_mode & 0o077 == 0
