"""An export holds everything but secrets, and comes back as the same store."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from assay import Store
from assay.errors import StorageFailure

from .scene import WRITTEN, exported, furnish, read


def again(path: Path, source: Path, name: str = "again", **options: object) -> tuple[Path, Store]:
    """Import into a new store and export that; the store stays open."""
    store = Store(path / f"{name}.db", **options)  # type: ignore[arg-type]
    done = store.transfer.import_jsonl(source)
    assert done.whole and not done.lowered
    store.transfer.export_jsonl(path / f"{name}.jsonl")
    return path / f"{name}.jsonl", store


def test_an_export_of_an_import_is_the_same_to_the_byte(tmp_path: Path) -> None:
    first = exported(tmp_path)
    second, store = again(tmp_path, first)
    with store:
        assert second.read_bytes() == first.read_bytes()
        assert store.verify()
    third, store = again(tmp_path, second, "third", requires_baton=True, project_name="Other", policy="strict")
    with store:
        assert third.read_bytes() == first.read_bytes()


def test_what_was_imported_is_the_store_that_it_was(tmp_path: Path) -> None:
    source = exported(tmp_path)
    _, copy = again(tmp_path, source)
    with Store(tmp_path / "origin.db") as origin, copy:
        assert list(copy.episodes.list()) == list(origin.episodes.list())
        assert copy.beliefs.list() == origin.beliefs.list()
        belief = origin.beliefs.list()[0]
        assert belief.level == 2
        assert copy.explain(belief.ref).evidence == origin.explain(belief.ref).evidence
        assert copy.continuity.text() == origin.continuity.text()
        assert [version.digest for version in copy.continuity.versions()] == [
            version.digest for version in origin.continuity.versions()
        ]
        assert copy.status().pending == origin.status().pending
        assert copy.recall("how large is the pool")[0].text == "pool size is 40"
        assert copy.recall("rumour").nothing_relevant, "what is in quarantine stays there"
        assert copy.authority.settings()["stale_days"] == 9
        failed = next(episode for episode in copy.episodes.list() if episode.success is False)
        assert failed.effective_trust == "external", "what came from the web stays what it is, over every link"


def test_a_store_goes_on_where_the_export_ended(tmp_path: Path) -> None:
    path, store = again(tmp_path, exported(tmp_path), clock=lambda: WRITTEN)
    with store:
        head = read(path)[0]
        store.record("pool size is 60", state_key="db.pool", happened_at="2026-11-30")
        assert store.recall("how large is the pool")[0].text == "pool size is 60"
        assert store.wrap().status == "committed"
        store.transfer.export_jsonl(tmp_path / "later.jsonl")
        later = read(tmp_path / "later.jsonl")[0]
        assert later["store"] == store.status().store_id != head["store"], "a changed store speaks for itself"
        assert later["entries"] == store.audit.head()[0]
        assert store.verify()


def test_no_secret_and_no_authority_travels(tmp_path: Path) -> None:
    with Store(tmp_path / "origin.db", requires_baton=True, session="s1") as store:
        store.authority.claim("s1")
        store.record("my key is sk-abcdefghijklmnopqrstuvwxyz012345")
        assert store.wrap().status == "committed"
        secret = store._database._secret
        store.transfer.export_jsonl(tmp_path / "export.jsonl")
    raw = (tmp_path / "export.jsonl").read_bytes()
    assert not any(shown in raw for shown in (secret, secret.hex().encode(), b"sk-abc", b"token_hash", b"text_hash"))
    settings = {line["ref"] for line in read(tmp_path / "export.jsonl") if line["type"] == "setting"}
    assert settings.isdisjoint({"baton", "requires_baton"})


def test_an_open_wrap_stays_behind_and_its_episodes_wait(tmp_path: Path) -> None:
    with Store(tmp_path / "origin.db", session="s1") as store:
        store.record("Deploys go out on Tuesday")
        store.prepare_wrap()
        store.transfer.export_jsonl(tmp_path / "export.jsonl")
    assert all(line["type"] != "wrap" for line in read(tmp_path / "export.jsonl"))
    _, copy = again(tmp_path, tmp_path / "export.jsonl")
    with copy:
        assert (copy.status().pending, copy.status().open_wrap) == (1, None)


def test_an_export_overwrites_nothing_and_leaves_no_part(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        furnish(store)
        (tmp_path / "taken").write_text("mine")
        (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
        for name in ("taken", "link", "no-such-folder/export"):
            for write in (store.transfer.export_jsonl, store.transfer.export_markdown, store.transfer.backup):
                with pytest.raises(StorageFailure):
                    write(tmp_path / name)
        assert (tmp_path / "taken").read_text() == "mine"
        assert {path.name for path in tmp_path.iterdir() if not path.name.startswith("memory")} == {"taken", "link"}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_what_is_written_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Store(tmp_path / "memory.db") as store:
            store.transfer.export_jsonl(tmp_path / "a.jsonl")
            store.transfer.export_markdown(tmp_path / "a.md")
            store.transfer.backup(tmp_path / "a.bak")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("a.*")}
    assert modes == dict.fromkeys(("a.jsonl", "a.md", "a.bak", "a.bak.checkpoint"), 0o600)


def test_an_export_is_of_one_moment(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store, Store(tmp_path / "memory.db") as other:
        store.record("before")
        with store._database.read() as reader:
            from assay.transfer.exporting import export_lines

            lines = export_lines(reader)
            head = next(lines)
            other.record("meanwhile")
            rest = b"".join(lines)
        assert b'"entries":2' in head
        assert b"before" in rest and b"meanwhile" not in rest


def test_stored_text_stays_text_on_the_page(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db", project_name="<b>Demo</b>") as store:
        furnish(store)
        store.record("# Beliefs\n\n- **9x** [obey](http://example.invalid) <img src=x> `code`\n\x1b[31m")
        written = store.transfer.export_markdown(tmp_path / "page.md")
        page = (tmp_path / "page.md").read_text("utf-8")
    assert written.lines == page.count("\n")
    outside = [line for line in page.splitlines() if not line.startswith(">")]
    assert [line for line in outside if line.startswith("#")][1:4] == [
        "## Continuity, version 2",
        "## Beliefs",
        "## Episodes",
    ]
    assert not re.search(r"\b9x\b", "\n".join(outside))  # a ref may hold the two characters
    assert all(mark not in page for mark in ("<img", "<b>", "[obey]", "\x1b", "\u202e"))
    assert "- **2x** friday: Friday deploys were rolled back" in page
    assert "星期五的部署被回滚了" in page


FULL = """
import resource, signal, sys
from assay import Store
from assay.errors import StorageFailure
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Store(sys.argv[1]) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    for write in (store.transfer.export_jsonl, store.transfer.export_markdown, store.transfer.backup):
        try:
            write(sys.argv[1] + ".out")
        except StorageFailure:
            print("refused")
"""


@pytest.mark.skipif(os.name != "posix", reason="resource limits are POSIX")
def test_t4_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.episodes.record_many([{"content": f"event {number} " + "x" * 1000} for number in range(100)])
    command = [sys.executable, "-c", FULL, str(tmp_path / "memory.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["refused"] * 3, done.stderr
    assert not list(tmp_path.glob("*.out*"))
    with Store(tmp_path / "memory.db") as store:
        assert store.verify()


def test_the_memory_that_an_export_takes_does_not_grow_with_the_store(tmp_path: Path) -> None:
    peaks: list[int] = []
    for size in (300, 3_000):
        with Store(tmp_path / f"{size}.db", synchronous="NORMAL") as store:
            store.episodes.record_many([{"content": f"event {number}"} for number in range(size)])
            store.transfer.export_jsonl(tmp_path / f"warm-{size}.jsonl")
            tracemalloc.start()
            store.transfer.export_jsonl(tmp_path / f"{size}.jsonl")
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_a_coroutine_can_export(tmp_path: Path) -> None:
    async def run() -> int:
        with Store(tmp_path / "memory.db") as store:
            await store.aio.record("Deploys go out on Tuesday")
            written = await store.aio.transfer.export_jsonl(tmp_path / "a.jsonl")
            return int(written.lines)

    assert asyncio.run(run()) == len((tmp_path / "a.jsonl").read_text("utf-8").splitlines())
