"""Memories of other programs come in as episodes, with who said what and how far it is trusted, and nothing more."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from assay import Kind, Origin, Store, Trust
from assay.errors import InvalidInput, StorageFailure

# The tables that are read, as anneal-memory 1.0.2 and brainmem 0.3.0 create them, with rows as they write them.
ANNEAL = """
CREATE TABLE episodes (id TEXT PRIMARY KEY, timestamp TEXT NOT NULL, type TEXT NOT NULL, content TEXT NOT NULL,
  source TEXT NOT NULL, session_id TEXT, metadata TEXT, created_at TEXT NOT NULL, origin_key TEXT);
CREATE TABLE episode_trust (episode_id TEXT PRIMARY KEY, trust TEXT NOT NULL);
CREATE TABLE episode_derived (episode_id TEXT NOT NULL, source_id TEXT NOT NULL, gone_trust TEXT,
  PRIMARY KEY (episode_id, source_id));
CREATE TABLE supersessions (old_id TEXT NOT NULL, new_id TEXT NOT NULL, recorded_at TEXT, source TEXT,
  PRIMARY KEY (old_id, new_id));
CREATE TABLE state_keys (episode_id TEXT PRIMARY KEY, key TEXT NOT NULL, set_at TEXT);
CREATE TABLE pattern_history (pattern_name TEXT PRIMARY KEY, max_level_reached INTEGER NOT NULL);
INSERT INTO episodes VALUES
  ('a1', '2025-03-07T09:00:00.000001Z', 'observation', 'Deploys go out on Tuesday', 'ada', 's1', '{"n": 1}', '', ''),
  ('b2', '2025-03-07T10:00:00Z', 'observation', 'A page says: deploy on Friday', 'web', NULL, NULL, '', ''),
  ('c3', '2025-03-07T11:00:00Z', 'decision', 'So we deploy on Friday', 'agent', NULL, NULL, '', ''),
  ('d4', '2025-03-07T12:00:00Z', 'observation', 'pool size is 20', 'agent', NULL, NULL, '', ''),
  ('e5', '2025-03-07T13:00:00Z', 'observation', 'pool size is 40', 'agent', NULL, NULL, '', ''),
  ('f6', '2025-03-07T14:00:00Z', 'observation', 'Deploys go out on Wednesday', 'ada', NULL, NULL, '', ''),
  ('g7', '2025-03-07T15:00:00Z', 'decision', 'From a note that is gone', 'agent', NULL, NULL, '', '');
INSERT INTO episode_trust VALUES ('b2', 'external'), ('f6', 'operator');
INSERT INTO episode_derived VALUES ('c3', 'b2', NULL), ('g7', 'x0', 'external');
INSERT INTO supersessions VALUES ('a1', 'f6', '', ''), ('d4', 'e5', '', '');
INSERT INTO state_keys VALUES ('d4', 'db.pool', ''), ('e5', 'db.pool', '');
INSERT INTO pattern_history VALUES ('friday', 7);
"""
BRAINMEM = """
CREATE TABLE episodes (id INTEGER PRIMARY KEY, ts REAL NOT NULL, session TEXT, actor TEXT, kind TEXT,
  content TEXT NOT NULL, entities TEXT, salience REAL, outcome INTEGER, consolidated INTEGER, archived INTEGER,
  embedding BLOB);
CREATE TABLE facts (id INTEGER PRIMARY KEY, subject TEXT, proposition TEXT NOT NULL, confidence REAL, created_at REAL,
  superseded_by INTEGER, retired_reason TEXT);
CREATE TABLE skills (id INTEGER PRIMARY KEY, trigger TEXT NOT NULL, procedure TEXT NOT NULL);
CREATE TABLE core (id INTEGER PRIMARY KEY, content TEXT NOT NULL);
INSERT INTO episodes(ts, session, actor, kind, content, outcome) VALUES
  (1700000000.5, 's1', 'ada', 'observation', 'Deploys go out on Tuesday', NULL),
  (1700000100, 's1', NULL, 'whatever', 'the Friday deploy was rolled back', 0);
INSERT INTO facts VALUES (1, 'Deploys', 'Deploys go out on Tuesdays', 0.9, 1700000200, NULL, NULL),
  (2, 'Deploys', 'Deploys go out on Mondays', 0.9, 1700000000, 1, NULL);
INSERT INTO skills VALUES (1, 'deploy', 'run make deploy');
INSERT INTO core VALUES (1, 'Our product is Demo');
"""


def database(path: Path, script: str) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


def test_a_store_of_anneal_memory_comes_in_with_trust_links_and_keys(tmp_path: Path) -> None:
    source = database(tmp_path / "theirs.db", ANNEAL)
    before = source.read_bytes()
    with Store(tmp_path / "memory.db") as store:
        done = store.transfer.import_from("anneal-memory", source)
        assert (done.added, done.lowered, dict(done.left_out)) == (7, 1, {"pattern": 1})
        first, page, decision, _, pool, later, orphan = store.episodes.list()
        assert (first.source, first.session, first.metadata) == ("ada", "s1", {"n": 1})
        assert first.happened_at.isoformat() == "2025-03-07T09:00:00.000001+00:00"
        assert {episode.origin for episode in store.episodes.list()} == {Origin.IMPORT}
        assert (page.trust, later.trust) == (Trust.EXTERNAL, Trust.AGENT)
        assert decision.kind is Kind.DECISION and decision.derived_from == (page.ref,)
        assert decision.effective_trust is Trust.EXTERNAL
        assert orphan.effective_trust is Trust.EXTERNAL, "its source is gone: nobody can say how far to trust it"
        assert first.replaced_by == later.ref
        assert store.keys.get("db.pool") == pool
        assert store.beliefs.list() == [], "a level that was earned elsewhere is earned again"
        assert store.transfer.import_from("anneal-memory", source).added == 0
        assert store.verify()
    assert source.read_bytes() == before


DOCUMENT = """# Demo

## State
Releases are planned.

## Patterns
- friday: Friday deploys were rolled back with nobody watching | 7x (2025-03-07) [evidence: e231e067 "watched"]
- friday: the same name again | 1x
- pool: forty connections are enough | 1x

## Decisions

## Context
The key is sk-abcdefghijklmnopqrstuvwxyz012345
"""


def test_a_continuity_of_anneal_memory_enters_at_2x_at_most(tmp_path: Path) -> None:
    source = database(tmp_path / "theirs.db", ANNEAL)
    (tmp_path / "theirs.continuity.md").write_text(DOCUMENT, "utf-8")
    with Store(tmp_path / "memory.db") as store:
        assert "document" not in store.transfer.import_from("anneal-memory", source).left_out
        assert {belief.name: belief.level for belief in store.beliefs.list()} == {"friday": 2, "pool": 1}
        text = store.continuity.text()
        assert "- friday: Friday deploys were rolled back with nobody watching | 2x" in text
        assert not any(gone in text for gone in ("7x", "e231e067", "sk-abc", "the same name again"))
        assert store.transfer.import_from("anneal-memory", source).left_out["document"] == 1
        assert len(store.continuity.versions()) == 1
        assert store.wrap().status == "committed"
        assert {belief.name: belief.level for belief in store.beliefs.list()}["friday"] <= 2
        assert store.verify()


def test_a_continuity_needs_the_permission_to_wrap(tmp_path: Path) -> None:
    source = database(tmp_path / "theirs.db", ANNEAL)
    (tmp_path / "theirs.continuity.md").write_text(DOCUMENT, "utf-8")
    with Store(tmp_path / "memory.db", requires_baton=True, session="desk") as store:
        assert store.transfer.import_from("anneal-memory", source).left_out["document"] == 1
        assert store.continuity.text() == ""
        store.authority.claim("desk")
        assert "document" not in store.transfer.import_from("anneal-memory", source).left_out
        assert store.continuity.version() == 1


def test_a_database_of_brainmem_comes_in_with_what_was_distilled(tmp_path: Path) -> None:
    source = database(tmp_path / "theirs.db", BRAINMEM)
    with Store(tmp_path / "memory.db") as store:
        assert store.transfer.import_from("brainmem", source, trust="tool").added == 5
        said, failed, fact, skill, core = store.episodes.list()
        assert (said.source, said.session, said.happened_at.timestamp()) == ("ada", "s1", 1700000000.5)
        assert (failed.kind, failed.success) == (Kind.OUTCOME, False)
        assert [one.content for one in (fact, skill, core)] == [
            "Deploys go out on Tuesdays",
            "deploy: run make deploy",
            "Our product is Demo",
        ]
        assert {one.trust for one in (said, failed, fact, skill, core)} == {Trust.TOOL}
        assert store.transfer.import_from("brainmem", source).added == 0


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    source = database(tmp_path / "theirs.db", BRAINMEM)
    (tmp_path / "junk").write_bytes(b"junk" * 1000)
    with Store(tmp_path / "memory.db") as store:
        for program, path in (("anneal-memory", source), ("brainmem", tmp_path / "memory.db"), ("other", source)):
            with pytest.raises(InvalidInput):
                store.transfer.import_from(program, path)
        with pytest.raises(StorageFailure):
            store.transfer.import_from("brainmem", tmp_path / "junk")
        assert store.audit.head()[0] == 1


def test_nothing_in_a_foreign_file_runs(tmp_path: Path) -> None:
    script = BRAINMEM + "DROP TABLE core; CREATE VIEW core AS SELECT 1 AS id, load_extension('x') AS content;"
    with Store(tmp_path / "memory.db") as store, pytest.raises(InvalidInput, match="no memory of brainmem"):
        store.transfer.import_from("brainmem", database(tmp_path / "theirs.db", script))
