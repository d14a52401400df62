"""Checkpoints are made when they should be, say what the log is, and leave the file only when that is durable."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay import InvalidInput, Kind, StorageFailure, Store
from assay.audit.proofs import checkpoints
from assay.audit.proofs.checkpoints import export
from assay.audit.proofs.signing import Signer
from assay.audit.proofs.verify_proof import CUT, Refused, read_note, read_notes
from assay.model.episode import JsonValue


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Store:
    return Store(tmp_path / "memory.db", clock=clock)


def sizes(store: Store) -> list[int]:
    with store._database.read() as reader:
        return [row[0] for row in reader.execute("SELECT size FROM checkpoint ORDER BY size")]


def ops(store: Store) -> list[object]:
    return [entry["op"] for entry in store.audit.entries()]


def test_a_checkpoint_is_the_state_of_the_log(store: Store) -> None:
    store.record("Deploys go out on Tuesday")
    made = store.audit.checkpoint()
    size, root = store.audit.head()
    assert (made.size, made.root) == (size, root)
    origin, number, encoded, empty = made.note.split("\n")[:4]
    assert (origin, number, empty) == (made.origin, str(size), "")
    assert made.origin == f"assay/{store.status().store_id}"
    assert read_notes(made.note)[0][0].root.hex() == root
    assert len(encoded) == 44
    assert ops(store)[-1] == "checkpoint"


def test_a_wrap_makes_a_checkpoint(store: Store) -> None:
    store.record("Friday deploy rolled back", kind=Kind.OUTCOME, success=False)
    assert sizes(store) == []
    assert store.wrap().version == 1
    assert sizes(store) == [store.audit.head()[0]]
    assert store.verify()


def test_fifteen_minutes_of_writing_make_a_checkpoint(store: Store, clock: Clock) -> None:
    for _ in range(3):
        store.record("x")
        clock.forward(minutes=7)
    assert sizes(store) == []
    clock.forward(minutes=7)
    store.record("y")
    assert len(sizes(store)) == 1
    clock.forward(minutes=14)
    store.record("z")
    assert len(sizes(store)) == 1


def test_short_processes_take_their_turn(tmp_path: Path, clock: Clock) -> None:
    made = []
    for _ in range(10):
        with Store(tmp_path / "memory.db", clock=clock) as store:
            store.record("x")
            made.append(len(sizes(store)))
        clock.forward(minutes=8)
    assert made == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_a_checkpoint_that_fails_does_not_make_the_change_look_failed(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise StorageFailure("the disk is full")

    monkeypatch.setattr(checkpoints, "make", fail)
    clock.forward(hours=1)
    assert store.record("kept").content == "kept"
    assert "no checkpoint was made" in caplog.text
    monkeypatch.undo()
    store.record("in the same quarter of an hour")
    assert sizes(store) == []
    clock.forward(hours=1)
    store.record("later")
    assert len(sizes(store)) == 1


def test_i15_what_leaves_the_file_is_durable_first(tmp_path: Path) -> None:
    seen: list[str] = []
    with Store(tmp_path / "memory.db", synchronous="NORMAL") as store:
        store.record("x")
        assert store._database._writer is not None
        store._database._writer.set_trace_callback(seen.append)
        store.audit.anchor(lambda note: seen.append("published"))
        commits = [number for number, statement in enumerate(seen) if statement == "COMMIT"]
        flushing = seen.index("PRAGMA synchronous=FULL")
        assert flushing < commits[-1] < seen.index("published"), seen
        assert seen[-2] == "PRAGMA synchronous=NORMAL"


def test_an_anchor_is_appended_and_read_back(store: Store, tmp_path: Path) -> None:
    anchors = tmp_path / "kept" / "anchors"
    anchors.parent.mkdir()
    for text in ("one", "two"):
        store.record(text)
        store.audit.anchor(anchors)
    notes, _ = read_notes(anchors.read_text("utf-8"))
    assert [note.size for note in notes] == sizes(store)
    assert store.verify(anchors=anchors)
    assert store.verify(anchors=[anchors.read_text("utf-8"), str(anchors)])


@pytest.mark.skipif(os.name != "posix", reason="modes and links are POSIX")
def test_an_anchor_file_is_private_and_no_link(store: Store, tmp_path: Path) -> None:
    store.audit.anchor(tmp_path / "anchors")
    assert (tmp_path / "anchors").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "anchors")
    with pytest.raises(StorageFailure, match="symbolic link"):
        store.audit.anchor(tmp_path / "link")


def test_nothing_but_checkpoints_is_appended_to(store: Store, tmp_path: Path) -> None:
    store.record("x")
    before = (tmp_path / "memory.db").read_bytes()
    (tmp_path / "notes.txt").write_text("my notes\n")
    for target in ("memory.db", "notes.txt"):
        with pytest.raises(InvalidInput, match="no file of checkpoints"):
            store.audit.anchor(tmp_path / target)
    assert (tmp_path / "notes.txt").read_text() == "my notes\n"
    assert (tmp_path / "memory.db").read_bytes()[:100] == before[:100]
    with pytest.raises(StorageFailure, match="cannot be written"):
        store.audit.anchor(tmp_path / "absent" / "anchors")


@pytest.mark.parametrize("signed", [False, True])
def test_an_anchor_that_is_cut_short_is_said_and_the_next_one_is_whole(
    store: Store, tmp_path: Path, signed: bool
) -> None:
    if signed:
        pytest.importorskip("cryptography")
        store.audit.sign_with(Signer.create(tmp_path / "key.pem"))
    anchors = tmp_path / "anchors"
    first, second = store.audit.checkpoint().note, store.audit.checkpoint().note
    third = store.audit.checkpoint().note
    text_end = second.index("\n\n") + 2
    for end in sorted({*range(1, len(second.encode()))} - {text_end}):  # there it is whole, and not signed
        begun = first.encode() + second.encode()[:end]
        anchors.write_bytes(begun)
        found = store.verify(anchors=anchors)
        assert found.valid
        assert [note for note in found.notes if "cut short" in note]
        export(read_note(third), anchors)
        assert anchors.read_bytes().startswith(begun), "nothing is taken away"
        assert read_notes(anchors.read_text("utf-8", "replace"))[0] == [read_note(first), read_note(third)]
        found = store.verify(anchors=anchors)
        assert (found.valid, found.notes) == (True, ())


def test_a_first_anchor_that_is_cut_short_is_no_proof_and_the_next_one_is(store: Store, tmp_path: Path) -> None:
    note = store.audit.checkpoint().note
    for end in range(1, len(note)):
        (tmp_path / "anchors").write_text(note[:end])
        with pytest.raises(InvalidInput, match="holds no checkpoint"):
            store.verify(anchors=tmp_path / "anchors")
        store.audit.anchor(tmp_path / "anchors")
        assert store.verify(anchors=tmp_path / "anchors")


def test_what_is_cut_short_vouches_for_nothing(store: Store) -> None:
    note = store.audit.checkpoint().note
    other = note.replace("=\n", "A\n")
    assert read_notes(f"{note}{other[:-1]}{CUT}\n{note}") == ([read_note(note)] * 2, False)
    with pytest.raises(Refused):
        read_notes(f"{note}{other}{note}")


@pytest.mark.skipif(os.name != "posix", reason="a limit on the size of files is POSIX")
def test_a_disk_that_fills_up_within_an_anchor_is_said_and_leaves_the_file_usable(store: Store, tmp_path: Path) -> None:
    import resource

    anchors = tmp_path / "anchors"
    store.audit.anchor(anchors)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    note = read_note(store.audit.checkpoint().note)
    for room in (0, 1, 40, len(note.note) - 1):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (anchors.stat().st_size + room, hard))
            with pytest.raises(StorageFailure, match="the checkpoint is in the store"):
                export(note, anchors)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert store.verify(anchors=anchors)
        store.audit.anchor(anchors)
        assert store.verify(anchors=anchors).notes == ()


@pytest.mark.parametrize("anchors", ["absent", "empty"])
def test_anchors_that_are_not_there_are_no_proof(store: Store, tmp_path: Path, anchors: str) -> None:
    (tmp_path / "empty").write_text("")
    with pytest.raises(InvalidInput):
        store.verify(anchors=tmp_path / anchors)


def test_a_kept_checkpoint_is_checked_at_its_size(store: Store, tmp_path: Path) -> None:
    for text in ("one", "two", "three"):
        store.record(text)
        store.audit.checkpoint()
    connection = sqlite3.connect(tmp_path / "memory.db")
    (note,) = connection.execute("SELECT note FROM checkpoint ORDER BY size").fetchone()
    connection.execute(
        "UPDATE checkpoint SET note=replace(?, char(10) || 3 || char(10), char(10) || size || char(10))", (note,)
    )
    connection.commit()
    connection.close()
    problems = store.verify().problems
    assert len(problems) == 2
    assert all("has another root than the log" in problem for problem in problems)


def test_every_kind_of_anchor_age_is_told(store: Store, clock: Clock) -> None:
    store.record("x")
    note = store.audit.checkpoint().note
    clock.forward(hours=2)
    assert store.verify(anchors=[note], anchor_max_age=timedelta(hours=3))
    stale = store.verify(anchors=[note], anchor_max_age=timedelta(hours=1))
    assert [*stale.breaches] == ["stale"]
    assert "1.0 hours older" in stale.problems[0]
    fresh = store.audit.checkpoint().note  # of an idle store
    assert store.verify(anchors=[note, fresh], anchor_max_age=timedelta(hours=1))
    with pytest.raises(InvalidInput, match="needs anchors"):
        store.verify(anchor_max_age=timedelta(hours=1))


def test_one_file_may_hold_the_anchors_of_many_stores(tmp_path: Path) -> None:
    anchors = tmp_path / "anchors"
    for name in ("ada", "bob"):
        with Store(tmp_path / f"{name}.db") as store:
            store.record(f"of {name}")
            store.audit.anchor(anchors)
    for name in ("ada", "bob"):
        with Store(tmp_path / f"{name}.db") as store:
            assert store.verify(anchors=anchors)


def test_a_restore_is_explained_by_an_anchor_behind_it_alone(store: Store) -> None:
    store.record("x")
    store.audit.checkpoint()
    size, root = store.audit.head()
    lost = f"assay/{store.status().store_id}\n{size + 3}\n{'A' * 43}=\n\n"
    replaced: dict[str, JsonValue] = {"replaced": {"size": size + 5, "root": root}}
    store._database.mutate(lambda tx: tx.entry("restore", actor="operator", data=replaced))
    assert [*store.verify(anchors=[lost]).breaches] == ["rollback"]
    for text in ("one", "two", "three"):
        store.record(text)
    assert [*store.verify(anchors=[lost]).breaches] == ["fork"]
    found = store.verify(anchors=[lost, store.audit.checkpoint().note])
    assert found.valid
    assert any("a backup replaced" in note for note in found.notes)
