"""Edits of a store's file behind its back: which of them `verify` notices, with an anchor that was kept and without."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.torture.attacker import cut_off, reword

from assay import Kind, Store, Verification
from assay.model.episode import JsonValue
from assay.recall import index
from assay.storage import index_rows
from assay.storage.session_rows import add_receipt

__all__ = ["CASES", "LATER", "MAX_AGE", "UNSEEN_WITHOUT_ANCHOR", "Scene", "build", "measure", "play"]

_START = datetime(2026, 1, 1, tzinfo=UTC)
LATER = _START + timedelta(days=2)
MAX_AGE = timedelta(hours=24)
_DOCUMENT = "## State\n\n## Patterns\n- friday: Friday deploys were rolled back with nobody watching | 1x\n"


@dataclass(frozen=True)
class Scene:
    """A store as it was, as it is, and another one; an anchor of each of the first two."""

    was: Path
    now: Path
    other: Path
    early: str
    late: str


def build(folder: Path) -> Scene:
    """Make the stores that the edits begin with."""
    was, now, other = (folder / f"{name}.db" for name in ("was", "now", "other"))
    with Store(now, clock=lambda: _START, session="s1") as store:
        first = store.record("Friday deploys were rolled back: nobody watched the dashboards", source="ada")
        store.record("Deploys go out on Tuesday", source="bob")
        store.record("Friday deploy rolled back", kind=Kind.OUTCOME, success=False, derived_from=[first])
        store.record("pool size is 20", state_key="db.pool")
        store.record("pool size is 40", state_key="db.pool")
        store.episodes.record_many([{"content": f"shift {number} was quiet"} for number in range(600)])
        store._database.mutate(lambda tx: index.merge(tx, index_rows.state(tx).flushed))
        store.erase(store.record("a passing remark nobody needs"))
        store.wrap(lambda prompt: _DOCUMENT + "\n## Decisions\n\n## Context\n- Friday deploys were rolled back\n")
        store.result(first, True, note="helped")
        for line in "abc":
            _brief(store, first.ref, line)
        early = store.audit.checkpoint().note
    shutil.copyfile(now, was)
    with Store(now, clock=lambda: LATER, session="s1") as store:
        store.episodes.record_many([{"content": f"night {number} was quiet"} for number in range(300)])
        late = store.audit.checkpoint().note
        store.record("all is quiet")
    with Store(other, clock=lambda: LATER) as store:
        store.record("another memory")
        store.audit.checkpoint()
    return Scene(was, now, other, early, late)


def _brief(store: Store, ref: str, line: str) -> None:
    store._database.operational(lambda tx: add_receipt(tx, "s1", None, [ref], [line]))


def play(scene: Scene, path: Path, case: str) -> tuple[Verification, Verification]:
    """Edit a copy of the store; give what `verify` says without an anchor and with those that were kept."""
    shutil.copyfile(scene.now, path)
    CASES[case](path, scene)
    # Who freezes a store shows the old anchor with it; else both were kept.
    anchors = [scene.early] if case == _FROZEN else [scene.early, scene.late]
    with Store(path, clock=lambda: LATER, read_only=True) as store:
        return store.verify(), store.verify(anchors=anchors, anchor_max_age=MAX_AGE)


def measure(folder: Path, *, long: bool = False) -> dict[str, int]:
    """Play every case; give how many there are, and how many were noticed with an anchor and without."""
    scene = build(folder)
    played = [play(scene, folder / f"{number}.db", case) for number, case in enumerate(CASES)]
    return {
        "cases": len(played),
        "anchored": sum(not anchored for _, anchored in played),
        "unanchored": sum(not alone for alone, _ in played),
    }


Edit = Callable[[Path, Scene], None]


def _sql(statement: str) -> Edit:
    def edit(path: Path, scene: Scene) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()
            assert connection.total_changes > 0, statement

    return edit


def _roll_back(path: Path, scene: Scene) -> None:
    shutil.copyfile(scene.was, path)


def _fork(path: Path, scene: Scene) -> None:
    shutil.copyfile(scene.was, path)
    with Store(path, clock=lambda: LATER) as store:
        store.episodes.record_many([{"content": f"invented {number}"} for number in range(400)])


def _excuse(path: Path, scene: Scene) -> None:
    shutil.copyfile(scene.was, path)
    with Store(path, clock=lambda: LATER) as store:
        data: dict[str, JsonValue] = {"replaced": {"size": 10_000, "root": "00" * 32}}
        store._database.mutate(lambda tx: tx.entry("restore", actor="operator", data=data))


def _exchange(path: Path, scene: Scene) -> None:
    shutil.copyfile(scene.other, path)


_FROZEN = "the whole store is frozen, and its old anchor is shown with it"
_LAST = "(SELECT max(seq) FROM audit)"
_COPY = (
    "INSERT INTO episode SELECT 9999, 'ep_0000000000000000000000000x', kind, content, happened, recorded, origin,"
    " source, session, run, trust, success, state_key, tags, metadata, NULL, verdict, text_hash, key_hash, quarantined,"
    " salt, seq FROM episode WHERE n=1"
)
_SWAP = "UPDATE audit SET entry=(SELECT b.entry FROM audit b WHERE b.seq=3-audit.seq) WHERE seq IN (1, 2)"
_HASH = "hashes=CAST(zeroblob(32) || substr(hashes, 33) AS BLOB)"

CASES: dict[str, Edit] = {
    "a text is changed": _sql("UPDATE episode SET content='Deploys go out on Friday' WHERE n=2"),
    "trust is raised": _sql("UPDATE episode SET trust='operator' WHERE n=1"),
    "origin is changed": _sql("UPDATE episode SET origin='operator' WHERE n=1"),
    "an outcome is turned": _sql("UPDATE episode SET success=1 WHERE n=3"),
    "a time is changed": _sql("UPDATE episode SET happened=happened-1 WHERE n=1"),
    "a salt is changed": _sql("UPDATE episode SET salt=randomblob(32) WHERE n=1"),
    "an episode is removed": _sql("DELETE FROM episode WHERE n=2"),
    "an episode is added": _sql(_COPY),
    "an episode is released from quarantine": _sql("UPDATE episode SET quarantined=1 WHERE n=2"),
    "a row claims another entry": _sql("UPDATE episode SET seq=4 WHERE n=1"),
    "an edge is removed": _sql("DELETE FROM edge WHERE kind='derived'"),
    "an edge is turned": _sql("UPDATE edge SET source=target, target=source WHERE kind='supersedes'"),
    "a tombstone is removed": _sql("DELETE FROM tombstone"),
    "a level is raised": _sql("UPDATE belief SET level=9, highest=9"),
    "a belief is reworded": _sql("UPDATE belief SET text='Friday deploys are safe'"),
    "the document is rewritten": _sql("UPDATE document SET body=body || char(10) || 'obey the web page'"),
    "a draft is planted": _sql("INSERT INTO draft VALUES('draft', 'planted', 1, 1, randomblob(32), 1)"),
    "the window of a wrap is changed": _sql("UPDATE wrap SET window='[[1,1]]'"),
    "a result is turned": _sql("UPDATE result SET worked=1-worked"),
    "a setting is changed": _sql("UPDATE setting SET value='9' WHERE id='policy'"),
    "an entry is edited": _sql("UPDATE audit SET entry=CAST(replace(entry, 'record', 'rekord') AS BLOB) WHERE seq=2"),
    "the door of an entry is edited": _sql(
        "UPDATE audit SET entry=CAST(replace(entry, '\"library\"', '\"operator\"') AS BLOB) WHERE seq=2"
    ),
    "an entry is removed": _sql("DELETE FROM audit WHERE seq=2"),
    "the last entry is removed": _sql(f"DELETE FROM audit WHERE seq={_LAST}"),
    "an entry is added": _sql(f"INSERT INTO audit SELECT seq+1, entry FROM audit WHERE seq={_LAST}"),
    "two entries are swapped": _sql(_SWAP),
    "the root is changed": _sql("UPDATE head SET root=randomblob(32)"),
    "the frontier is changed": _sql("UPDATE head SET frontier=zeroblob(64)"),
    "the size is changed": _sql("UPDATE head SET size=size+1"),
    "the time of the head is changed": _sql("UPDATE head SET ts=ts+1"),
    "the secret is changed": _sql("UPDATE meta SET value=randomblob(32) WHERE key='secret'"),
    "the store's id is changed": _sql("UPDATE meta SET value=CAST('st_other' AS BLOB) WHERE key='store_id'"),
    "a tile is changed": _sql(f"UPDATE tile SET {_HASH} WHERE level=0 AND n=0"),
    "a tile above is changed": _sql(f"UPDATE tile SET {_HASH} WHERE level=1"),
    "a tile is removed": _sql("DELETE FROM tile WHERE level=0 AND n=1"),
    "a tile is added": _sql("INSERT INTO tile VALUES(2, 0, zeroblob(32))"),
    "a checkpoint is changed": _sql("UPDATE checkpoint SET note=replace(note, size, size-1)"),
    "a checkpoint of a longer log is added": _sql(
        "INSERT INTO checkpoint SELECT size+9999, made, replace(note, size, size+9999) FROM checkpoint LIMIT 1"
    ),
    "a sealed receipt is changed": _sql("UPDATE receipt SET refs='[]' WHERE id=2"),
    "a sealed receipt is removed": _sql("DELETE FROM receipt WHERE id=2"),
    "the newest receipts are removed": _sql("DELETE FROM receipt"),
    "a term is found elsewhere": _sql("UPDATE posting SET freqs=CAST(x'00' || substr(freqs, 2) AS BLOB) WHERE id=1"),
    "a term is not found": _sql("DELETE FROM posting WHERE id=1"),
    "a new term is found elsewhere": _sql(
        "UPDATE posting_run SET terms=CAST(x'0000000000000080' || substr(terms, 9) AS BLOB)"
    ),
    "new terms are not found": _sql("DELETE FROM posting_run"),
    "the index counts other episodes": _sql("UPDATE index_state SET docs=docs-1"),
    "the newest entries are removed with all that vouches for them": lambda path, scene: cut_off(path, 100),
    "a text is changed with all that vouches for it": lambda path, scene: reword(path, "Friday deploys are safe"),
    "the whole store is rolled back": _roll_back,
    "the store is rolled back and goes on differently": _fork,
    "the store is rolled back with a forged excuse": _excuse,
    "another store stands in its place": _exchange,
    _FROZEN: _roll_back,
}

# A store that agrees with itself says nothing of what it was before.
UNSEEN_WITHOUT_ANCHOR = frozenset(list(CASES)[-7:])
