"""A store with a row of every kind, and its export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from assay import Kind, Store, Trust

WRITTEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
Line = dict[str, Any]


def document(level: str) -> str:
    """Compose a document with one pattern, as a model would."""
    pattern = f"- friday: Friday deploys were rolled back with nobody watching | {level}"
    return f"## State\n\n## Patterns\n{pattern}\n\n## Decisions\n\n## Context\n- Friday deploys were rolled back\n"


def furnish(store: Store) -> None:
    """Record, wrap, raise, erase, hold back and judge, so that every table has rows."""
    first = store.record("Friday deploys were rolled back: nobody watched the dashboards", source="ada", session="s1")
    store.record("Friday deploys were rolled back: nobody watched the dashboards", source="bob", session="s2")
    page = store.record("星期五的部署被回滚了 \u2028 ‮tfel", source="web", session="s3", trust=Trust.EXTERNAL)
    store.record(
        "rolled back", Kind.OUTCOME, success=False, derived_from=[first, page], tags=["ops"], metadata={"n": 0.1}
    )
    store.record("pool size is 20", state_key="db.pool", happened_at="2026-11-28T10:00:00.000001Z")
    store.record("pool size is 40", state_key="db.pool", happened_at="2026-11-29", idempotency_key="k:1")
    store.erase(store.record("a passing remark", idempotency_key="k:2"), reason="asked")
    store.wrap(lambda prompt: document("1x"))
    again = store.record(
        "On Friday the billing deploys were rolled back with nobody watching", source="cy", session="s4"
    )
    cited = f'2x [evidence: {again.ref} "deploys were rolled back with nobody watching"] [no-contradicts]'
    assert store.wrap(lambda prompt: document(cited)).raised == ("friday",)
    store.result(first, True, note="helped")
    store.record("a rumour", source="elsewhere")
    store.episodes.quarantine(source="elsewhere", reason="not ours")
    store.authority.set(stale_days=9)


def exported(path: Path, name: str = "export.jsonl", **options: Any) -> Path:
    """Give the export of a furnished store."""
    with Store(path / "origin.db", project_name="Origin", clock=lambda: WRITTEN, session="s1", **options) as store:
        furnish(store)
        store.transfer.export_jsonl(path / name)
    return path / name


def read(path: Path) -> list[Line]:
    """Read the lines of an export."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    """Write lines as an export whose last line accounts for them, as whoever forges one would."""
    *rows, _ = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines]
    body = "".join(rows).encode()
    last = {"type": "end", "lines": len(rows), "sha256": sha256(body).hexdigest()}
    path.write_bytes(body + json.dumps(last).encode() + b"\n")
    return path
