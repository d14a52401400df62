"""The store as a user meets it: verbs, namespaces, rendering, coroutines."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay import Kind, Role, Schema, SectionSpec, Store
from assay.errors import AssayError, Closed, Conflict, InvalidInput, NotFound


def test_status_counts_without_content(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db", project_name="Skylark") as store:
        store.record("a secret plan")
        status = store.status()
        assert (status.episodes, status.pending, status.project, status.audit_entries) == (1, 1, "Skylark", 2)
        assert status.size_bytes > 0 and status.policy == "default" and status.open_wrap is None
        assert "secret plan" not in repr(status)


def test_the_project_name_is_kept_from_the_first_opening(tmp_path: Path) -> None:
    Store(tmp_path / "memory.db", project_name="Skylark").close()
    with Store(tmp_path / "memory.db", project_name="Other") as store:
        assert store.status().project == "Skylark"


def test_nothing_shows_content_in_its_repr(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        episode = store.record(
            "the launch code is heliotrope", state_key="launch heliotrope", metadata={"x": "heliotrope"}
        )
        found = store.recall("launch code")
        shown = [
            episode,
            found,
            found[0],
            store.briefing("launch"),
            store,
            store.explain(episode),
            store.audit.entries(),
        ]
        assert all("heliotrope" not in repr(item) for item in shown)


def test_hits_and_briefings_render_in_notebooks_and_terminals(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.record("<b>deploys</b> [red]go out[/red]")
        found = store.recall("deploys")
        assert "<b>" not in found._repr_html_() and "&lt;b&gt;" in found._repr_html_()
        assert r"\[red]" in found[0].__rich__()
        assert "<b>" not in found[0]._repr_html_()
        pattern = '- x: <b>deploys</b> [red] | 9x [evidence: ep_00000000 "deploys"]'
        wrapped = store.wrap(
            lambda prompt: f"## State\n\n## Patterns\n{pattern}\n\n## Decisions\n\n## Context\n", retries=0
        )
        assert wrapped.findings and "&lt;" not in str(wrapped) and "<b>" not in wrapped._repr_html_()
        assert str(wrapped).startswith("committed") and r"\[" in wrapped.__rich__()
        briefing = store.briefing("deploys")
        assert "<b>" not in briefing._repr_html_() and str(briefing) == briefing.text


def test_episodes_are_listed_with_a_cursor(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        refs = [store.record(f"event {at}", session=f"s{at % 2}").ref for at in range(7)]
        first = store.episodes.list(limit=3)
        rest = store.episodes.list(after=first.next, limit=10)
        assert [episode.ref for episode in (*first, *rest)] == refs and rest.next is None
        assert [episode.ref for episode in store.episodes.list(session="s1")] == refs[1::2]
        assert [(name, count) for name, count, _ in store.episodes.sessions()] == [("s0", 4), ("s1", 3)]
        with pytest.raises(InvalidInput):
            store.episodes.list(limit=0)


def test_explain_tells_sources_successors_and_entries(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        source = store.record("the log says 3 errors")
        old = store.record("the job fails at night", derived_from=[source])
        new = store.correct(old, "the job fails at night on Sundays")
        store.result(old, False, note="did not help")
        told = store.explain(old)
        assert [episode.ref for episode in told.sources] == [source.ref]
        assert told.replaced_by == new.ref
        assert store.explain(new).replaces == (old.ref,)
        assert store.explain(source).derived == (old.ref,)
        assert told.results == ((False, "did not help"),)
        assert told.entries == tuple(entry["seq"] for entry in store.history.changes(old))
        assert len(told.entries) == 1


def test_a_result_needs_a_subject_and_a_truth_value(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        episode = store.record("ran the migration", Kind.OUTCOME, success=True)
        with pytest.raises(InvalidInput):
            store.result(episode, "yes")  # type: ignore[arg-type]
        with pytest.raises(NotFound):
            store.result("no-such-belief", True)
        store.result(episode, True)
        assert store.verify()


def test_supersede_links_two_episodes_and_refuses_cycles(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        a = store.record("the backup runs at one")
        b = store.record("the backup runs at two")
        store.episodes.supersede(a, b, reason="moved")
        assert store.episodes.get(a).replaced_by == b.ref
        with pytest.raises(Conflict):
            store.episodes.supersede(b, a)
        with pytest.raises(Conflict, match="same episode"):
            store.episodes.supersede(b, b)


def test_settings_are_checked_kept_and_audited(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.authority.set(continuity_tokens=800, carry_days=None)
        assert store.authority.settings()["continuity_tokens"] == 800
        for bad in (
            {"continuity_tokens": 10},
            {"carry_days": 0},
            {"colour": "red"},
            {"requires_baton": 1},
            {"policy": "lax"},
        ):
            with pytest.raises(InvalidInput):
                store.authority.set(**bad)
        assert store.audit.entries()[-1]["op"] == "setting"
    with Store(tmp_path / "memory.db") as store:
        assert store.authority.settings()["carry_days"] is None
        assert store.verify()


def test_strict_is_never_weaker_than_default(tmp_path: Path) -> None:
    with Store(tmp_path / "strict.db", policy="strict") as strict, Store(tmp_path / "default.db") as default:
        a, b = strict.authority.settings(), default.authority.settings()
        assert a["requires_baton"] and a["outcome_weight"] == 0
        assert a["conversation_cap"] <= b["conversation_cap"]  # type: ignore[operator]


def test_the_arguments_of_a_store_are_checked(tmp_path: Path) -> None:
    for bad in (
        {"policy": "lax"},
        {"schema": "nope"},
        {"default_trust": "x"},
        {"project_name": "a\nb"},
        {"session": ""},
    ):
        with pytest.raises(InvalidInput):
            Store(tmp_path / "memory.db", **bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        Store("")
    with pytest.raises(InvalidInput, match="graduating"):
        Store(tmp_path / "memory.db", schema=Schema("own", (SectionSpec("State", Role.LIVE_STATE),)))
    assert list(tmp_path.iterdir()) == []


def test_every_error_has_a_code_and_a_base() -> None:
    classes = [AssayError]
    for kind in classes:
        classes += kind.__subclasses__()
    codes = [kind.code for kind in classes]
    assert len(set(codes)) == len(codes) and all(code == code.lower() for code in codes)


def test_aio_close_waits_for_what_was_asked_before(tmp_path: Path) -> None:
    store = Store(tmp_path / "memory.db")

    async def main() -> None:
        told = [asyncio.create_task(store.aio.record(f"task {at}")) for at in range(5)]
        await asyncio.sleep(0)
        await store.aio.close()
        await asyncio.gather(*told)

    asyncio.run(main())
    with pytest.raises(Closed):
        store.record("behind the close")
    with Store(tmp_path / "memory.db") as again:
        assert len(again.episodes.list()) == 5


def test_aio_runs_on_one_thread_and_not_on_the_loop(tmp_path: Path) -> None:
    threads: set[str] = set()

    def clock() -> datetime:
        threads.add(threading.current_thread().name)
        return datetime.now(UTC)

    async def main(store: Store) -> None:
        await asyncio.gather(*(store.aio.record(f"task {at}") for at in range(50)))
        found = await store.aio.recall("task", limit=50)
        assert len(found) == 50
        assert len(await store.aio.episodes.list()) == 50
        with pytest.raises(InvalidInput):
            await store.aio.record("")

    with Store(tmp_path / "memory.db", clock=clock) as store:
        threads.clear()
        asyncio.run(main(store))
        assert threads == {"assay_0"}
        assert store.verify()


def test_a_cancelled_call_leaves_the_store_usable(tmp_path: Path) -> None:
    async def main(store: Store) -> None:
        tasks = [asyncio.create_task(store.aio.record(f"task {at}", idempotency_key=f"k{at}")) for at in range(40)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for at in range(40):
            await store.aio.record(f"task {at}", idempotency_key=f"k{at}")

    with Store(tmp_path / "memory.db") as store:
        asyncio.run(main(store))
        assert store.status().episodes == 40
        assert store.verify()
