"""A store that an earlier release wrote is read, verified and written on; golden/ has one of each schema."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay import Kind, Store
from assay.storage.schema import SCHEMA_VERSION

GOLDEN = Path(__file__).parent / "golden"
WRITTEN = datetime(2026, 11, 30, 12, tzinfo=UTC)


def document(level: str) -> str:
    """Compose a document with one pattern, as a model would."""
    pattern = f"- friday: Friday deploys were rolled back with nobody watching | {level}"
    return f"## State\n\n## Patterns\n{pattern}\n\n## Decisions\n\n## Context\n- Friday deploys were rolled back\n"


def write(path: Path) -> None:
    """Write a store with a row in every table that this version fills."""
    with Store(path, project_name="Golden", clock=lambda: WRITTEN, session="s1") as store:
        first = store.record(
            "Friday deploys were rolled back: nobody watched the dashboards", source="ada", session="s1"
        )
        store.record("Friday deploys were rolled back: nobody watched the dashboards", source="bob", session="s2")
        store.record("Deploys of the 4096 MB workers were rolled back on Friday", source="bob", session="s3")
        store.record("rolled back", Kind.OUTCOME, success=False, derived_from=[first], tags=["ops"], metadata={"n": 1})
        store.record("pool size is 20", state_key="db.pool")
        store.record("pool size is 40", state_key="db.pool", idempotency_key="k:1")
        store.erase(store.record("a passing remark"))
        store.wrap(lambda prompt: document("1x"))
        again = store.record(
            "On Friday the billing and search deploys were rolled back with nobody watching the graphs that night",
            source="cy",
            session="s4",
        )
        cited = f'2x [evidence: {again.ref} "deploys were rolled back with nobody watching"] [no-contradicts]'
        assert store.wrap(lambda prompt: document(cited)).raised == ("friday",)
        store.result(first, True, note="helped")
        store.authority.claim("s1")


def load(script: Path, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script.read_text("utf-8"))
    connection.close()


def test_this_schema_has_a_golden_file(tmp_path: Path) -> None:
    script = GOLDEN / f"store_{SCHEMA_VERSION}.sql"
    if os.environ.get("ASSAY_WRITE_GOLDEN"):
        write(tmp_path / "memory.db")
        connection = sqlite3.connect(tmp_path / "memory.db")
        numbers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        lines = [f"PRAGMA application_id={numbers[0]};", f"PRAGMA user_version={numbers[1]};", *connection.iterdump()]
        script.write_text("\n".join(lines) + "\n", "utf-8")
        connection.close()
    assert script.exists()


@pytest.mark.parametrize("script", sorted(GOLDEN.glob("store_*.sql")), ids=lambda script: script.stem)
def test_a_golden_store_is_read_verified_and_written_on(tmp_path: Path, script: Path) -> None:
    path = tmp_path / "memory.db"
    load(script, path)
    with Store(path, session="s1") as store:
        assert store.verify(), store.verify()
        status = store.status()
        assert (status.project, status.episodes, status.wraps, status.baton) == ("Golden", 7, 2, "s1")
        assert store.recall("how large is the pool")[0].text == "pool size is 40"
        assert store.keys.get("db.pool") is not None
        assert "rolled back" in store.continuity.text()
        assert (status.by_level, status.open_wrap) == ({2: 1}, None)
        store.record("and it goes on")
        assert store.wrap().status == "committed"
        assert store.verify()
