"""Coroutines: in order, off the loop, and not lost when their task is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.session import SessionKey, StoreRouter, recall_tool
from assay.testing.tapped import TappedStore


def test_events_keep_their_order_whoever_awaits_them(desk: Any) -> None:
    session = desk.session()

    async def main() -> None:
        await session.aio.run_started()
        await asyncio.gather(*[session.aio.agent_message(f"message number {number}") for number in range(20)])

    asyncio.run(main())
    assert desk.texts() == [f"message number {number}" for number in range(20)]


def test_only_the_worker_touches_the_disk(tmp_path: Path) -> None:
    touched: set[str] = set()
    store = TappedStore(tmp_path / "m.db", lambda verb: touched.add(threading.current_thread().name))
    router = StoreRouter(store)
    session = router.session(SessionKey(None, "s"))

    async def main() -> None:
        await session.aio.run_started()
        await session.aio.user_message("Hello there")
        await session.aio.briefing()
        await session.aio.tool_call("add", {"a": 1}, call_id="c1")
        await session.aio.tool_result("add", 1, call_id="c1")
        await session.aio.run_ended("Hello.")
        await session.aio.wrap(lambda prompt: "")

    asyncio.run(main())
    router.close()
    store.close()
    assert len(touched) == 1 and threading.current_thread().name not in touched


def test_a_cancelled_task_loses_no_event(tmp_path: Path) -> None:
    entered, leave = threading.Event(), threading.Event()

    def tap(verb: str) -> None:
        if verb == "user_message":
            entered.set()
            leave.wait(5)

    store = TappedStore(tmp_path / "m.db", tap)
    router = StoreRouter(store)
    session = router.session(SessionKey(None, "s"))

    async def main() -> None:
        task = asyncio.create_task(session.aio.user_message("said before the cancel"))
        await asyncio.to_thread(entered.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        leave.set()
        await session.aio.agent_message("after it")

    asyncio.run(main())
    router.close()
    store.close()
    with Store(tmp_path / "m.db") as again:
        assert [episode.content for episode in again.episodes.list()] == ["said before the cancel", "after it"]


def test_a_translation_written_once_runs_as_one_step(desk: Any) -> None:
    session = desk.session()
    desk.session("told").user_message("Deploys of the billing service go out on Tuesday evenings")

    def translate() -> str:
        session.run_started()
        session.user_message("When do deploys of the billing service go out?")
        return recall_tool(session, session.asked)

    assert "Tuesday" in asyncio.run(session.aio.run(translate))


def test_an_unknown_or_private_name_is_no_verb(desk: Any) -> None:
    session = desk.session()
    for name in ("no_such_verb", "_record", "asked"):
        with pytest.raises(AttributeError):
            getattr(session.aio, name)


def test_loops_that_come_and_go_share_the_worker(desk: Any) -> None:
    session = desk.session()
    for number in range(3):
        asyncio.run(session.aio.agent_message(f"from loop number {number}"))
    assert len(desk.lines()) == 3


def test_the_port_loads_no_event_loop_until_it_is_asked_for_one() -> None:
    code = "import sys, assay.session; print('asyncio' in sys.modules, 'concurrent.futures' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]
