"""Whatever is changed outside the engine shows when the log is replayed."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from assay import Kind, Store
from assay.errors import Damaged, InvalidInput
from assay.model.episode import JsonValue


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        first = store.record("Deploys go out on Tuesday")
        store.record("Deploys go out on Tuesday")
        store.record("Friday deploy rolled back", kind=Kind.OUTCOME, success=False, derived_from=[first])
        store.record("pool size is 20", state_key="db.pool")
        store.record("pool size is 40", state_key="db.pool")
        store.erase(store.record("a passing remark nobody needs"))
        assert store.verify()
    return path


TAMPERINGS = {
    "a text is changed": "UPDATE episode SET content='Deploys go out on Friday' WHERE n=1",
    "trust is raised": "UPDATE episode SET trust='operator' WHERE n=1",
    "origin is changed": "UPDATE episode SET origin='operator' WHERE n=1",
    "an outcome is turned": "UPDATE episode SET success=1 WHERE n=3",
    "a time is changed": "UPDATE episode SET happened=happened-1 WHERE n=1",
    "a salt is changed": "UPDATE episode SET salt=randomblob(32) WHERE n=1",
    "a salt is another spelling of the same key": "UPDATE episode SET salt=CAST(salt || x'00' AS BLOB) WHERE n=1",
    "an episode is removed": "DELETE FROM episode WHERE n=2",
    "an episode is duplicated": (
        "INSERT INTO episode SELECT 99, 'ep_0000000000000000000000000x', kind, content, happened, recorded, origin,"
        " source, session, run, trust, success, state_key, tags, metadata, NULL, verdict, text_hash, key_hash,"
        " quarantined, salt, seq FROM episode WHERE n=1"
    ),
    "a row claims another entry": "UPDATE episode SET seq=4 WHERE n=1",
    "an edge is removed": "DELETE FROM edge WHERE kind='derived'",
    "an edge is turned": "UPDATE edge SET source=target, target=source WHERE kind='supersedes'",
    "a setting is changed": "UPDATE setting SET value='9' WHERE id='policy'",
    "a tombstone is removed": "DELETE FROM tombstone",
    "an entry is edited": "UPDATE audit SET entry=CAST(replace(entry, 'record', 'rekord') AS BLOB) WHERE seq=2",
    "an entry is removed": "DELETE FROM audit WHERE seq=2",
    "the last entry is removed": "DELETE FROM audit WHERE seq=(SELECT max(seq) FROM audit)",
    "two entries are swapped": (
        "UPDATE audit SET entry=(SELECT b.entry FROM audit b WHERE b.seq=3-audit.seq) WHERE seq IN (1, 2)"
    ),
    "the root is changed": "UPDATE head SET root=randomblob(32)",
    "the frontier is changed": "UPDATE head SET frontier=zeroblob(64)",
    "the size is changed": "UPDATE head SET size=size+1",
    "the time of the head is changed": "UPDATE head SET ts=ts+1",
    "the secret is changed": "UPDATE meta SET value=randomblob(32) WHERE key='secret'",
    "a text is no text": "UPDATE episode SET content=CAST(x'ff' AS TEXT) WHERE n=1",
    "the store's id is changed": "UPDATE meta SET value=CAST('st_other' AS BLOB) WHERE key='store_id'",
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_i13_a_tampering_is_detected(path: Path, name: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(TAMPERINGS[name])
    connection.commit()
    assert connection.total_changes > 0
    connection.close()
    with Store(path) as store:
        found = store.verify()
        assert not found.valid and found.problems, name


def test_i13_an_erased_episode_cannot_be_brought_back(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        episode = store.record("to be erased")
        store._database.truncate_log()
        connection = sqlite3.connect(path)
        row = connection.execute("SELECT * FROM episode").fetchone()
        connection.close()
        store.erase(episode)
        store.record("another")
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM episode")
    connection.execute(f"INSERT INTO episode VALUES({','.join('?' * len(row))})", row)
    connection.commit()
    connection.close()
    with Store(path) as store:
        assert not store.verify()


def test_an_unknown_operation_fails_verify(path: Path) -> None:
    with Store(path) as store, pytest.raises(ValueError, match="unknown operation"):
        store._database.mutate(lambda tx: tx.entry("dance", actor="x"))


def test_i4_entries_hold_no_content(path: Path) -> None:
    with Store(path) as store:
        log = json.dumps(store.audit.entries())
    for word in ("Tuesday", "rolled back", "pool size", "db.pool"):
        assert word not in log


def test_entries_can_be_followed_with_a_cursor(path: Path) -> None:
    with Store(path) as store:
        seen = [entry["seq"] for entry in store.audit.entries(limit=3)]
        seen += [entry["seq"] for entry in store.audit.entries(after=seen[-1])]  # type: ignore[arg-type]
        assert seen == list(range(store.audit.head()[0]))


def test_each_commit_reaches_the_host_after_it_is_durable(tmp_path: Path) -> None:
    heard: list[tuple[object, int]] = []
    with Store(tmp_path / "m.db", on_audit_event=lambda entry: heard.append((entry["op"], len(heard)))) as store:
        store.record("one")
        store.record("two")
    assert [op for op, _ in heard] == ["init", "record", "record"]


def test_a_listener_hears_of_what_is_committed_and_no_content(tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    def listen(entry: Mapping[str, JsonValue]) -> None:
        connection = sqlite3.connect(tmp_path / "m.db")  # another program's view
        seen.append((json.dumps(entry), connection.execute("SELECT count(*) FROM episode").fetchone()[0]))
        connection.close()

    with Store(tmp_path / "m.db", on_audit_event=listen) as store:
        episode = store.record("the door code is 4711", source="ada", state_key="door")
    assert [count for _, count in seen] == [0, 1]
    assert episode.ref in seen[1][0]
    assert not any(word in seen[1][0] for word in ("4711", "code"))


def test_a_failing_listener_does_not_make_a_commit_look_failed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path / "m.db", on_audit_event=lambda entry: entry["absent"]) as store:  # type: ignore[arg-type]
        assert store.record("kept").content == "kept"
        assert store.status().episodes == 1
    assert "on_audit_event failed for entry 1" in caplog.text


def test_the_root_that_an_older_version_kept_beside_the_head_is_checked(path: Path) -> None:
    with Store(path) as store:
        root = store.audit.head()[1]
        for kept, valid in ((root, True), (root[:-2] + "00", False), ("", True)):
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("UPDATE head SET root=?", (bytes.fromhex(kept),))
                connection.commit()
            assert store.verify().valid is valid, kept


@pytest.mark.parametrize("statement", ["DELETE FROM head", "DELETE FROM meta WHERE key='store_id'"])
def test_what_is_gone_is_reported_and_not_raised(path: Path, statement: str) -> None:
    with Store(path) as store:
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.commit()
        connection.close()
        assert not store.verify()


def test_a_policy_that_is_set_sets_its_switches(tmp_path: Path) -> None:
    with Store(tmp_path / "m.db") as store:
        store.authority.set(policy="strict")
        assert store.authority.settings()["requires_baton"] is True
        assert store.authority.settings()["outcome_weight"] == 0


def test_t13_what_verify_holds_in_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    peaks: list[int] = []
    with Store(tmp_path / "m.db") as store:
        for count in (2_000, 2_000, 6_000):  # a text that comes again has an edge as well
            store.episodes.record_many([{"content": f"event {number}"} for number in range(count)])
            assert store.verify(index=False)
            tracemalloc.start()
            assert store.verify(index=False)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1], peaks


@pytest.mark.parametrize("limit", [0, -3])
def test_a_tampered_store_is_not_valid_for_naming_no_problem(path: Path, limit: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE episode SET trust='operator' WHERE n=1")
    connection.commit()
    connection.close()
    with Store(path, read_only=True) as store:
        with pytest.raises(InvalidInput, match="at least 1"):
            store.verify(limit=limit)
        assert not store.verify(limit=1)


def test_a_row_whose_salt_was_cut_is_changed_by_nobody(tmp_path: Path) -> None:
    """Else an entry would commit to nothing, and to whatever the row says afterwards."""
    with Store(tmp_path / "m.db") as store:
        store.record("the door code is 4711", source="page")
        with closing(sqlite3.connect(tmp_path / "m.db")) as file:
            file.execute("UPDATE episode SET salt=CAST(substr(salt, 1, 31) AS BLOB)")
            file.commit()
        assert not store.verify()
        with pytest.raises(Damaged, match="salt"):
            store.episodes.quarantine(source="page", reason="suspicious")
        assert not store.verify()
