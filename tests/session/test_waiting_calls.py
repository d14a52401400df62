"""Calls of tools: no tool waits for the disk, and no call is lost."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.errors import StorageFailure
from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing.tapped import FaultyStore, TappedStore

ADA = SessionKey("ada", "s1")


def test_a_call_is_written_with_its_result(tmp_path: Path) -> None:
    heard: list[str] = []
    with TappedStore(tmp_path / "m.db", heard.append) as store, StoreRouter(store) as router:
        session = router.session(ADA)
        session.run_started()
        heard.clear()
        session.tool_call("add", {"a": 1}, call_id="c1")
        assert heard == []
        session.tool_result("add", 2, call_id="c1")
        assert heard == ["tool_call", "tool_result"]


def test_the_call_of_a_tool_that_is_still_running_is_written(desk: Any) -> None:
    desk.session().tool_call("sleep", {"hours": 1}, call_id="c1")
    limit = time.monotonic() + 10
    while not desk.texts():
        assert time.monotonic() < limit
        time.sleep(0.005)
    desk.session().tool_result("sleep", "awake", call_id="c1")
    assert [line.derived for line in desk.lines()] == [(), (1,)]


def test_a_run_that_is_left_open_leaves_no_call_behind(desk: Any) -> None:
    session = desk.session()
    session.tool_call("approve", {"question": "May I?"}, call_id="c1")
    session.settle()
    assert desk.texts() == ['approve {"question": "May I?"}']

    async def main() -> None:
        await session.aio.tool_call("approve", {"question": "And now?"}, call_id="c2")
        await session.aio.run(lambda: None)

    asyncio.run(main())
    assert desk.texts()[1:] == ['approve {"question": "And now?"}']


@pytest.mark.parametrize("closed", ["router", "store"])
def test_closing_keeps_a_call_that_waits(tmp_path: Path, closed: str) -> None:
    with Store(tmp_path / "m.db") as store, StoreRouter(store) as router:
        router.session(ADA).tool_call("approve", {"question": "May I?"}, call_id="c1")
        (router if closed == "router" else store).close()
    with Store(tmp_path / "m.db") as store:
        assert [one.content for one in store.episodes.list()] == ['approve {"question": "May I?"}']


def test_a_program_that_ends_keeps_a_call_that_waits(tmp_path: Path) -> None:
    code = (
        "import sys; from assay.session import SessionKey, StoreRouter;"
        "StoreRouter(sys.argv[1]).session(SessionKey('ada', 's1')).tool_call('exit', {}, call_id='c1')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "m.db")], check=True)
    with Store(tmp_path / "m.db") as store:
        assert [one.content for one in store.episodes.list()] == ["exit {}"]


def test_a_call_that_cannot_be_recorded_takes_no_result_with_it(tmp_path: Path) -> None:
    store = FaultyStore(tmp_path / "m.db", ["tool_call"], error=StorageFailure("the disk is gone"))
    with store, StoreRouter(store) as router:
        session = router.session(ADA)
        session.tool_call("add", {"a": 1}, call_id="c1")
        session.tool_result("add", 2, call_id="c1")
        assert [one.content for one in store.episodes.list()] == ["2"]
        assert store.status().faults == {"tool_call": 1}


def test_calls_of_a_store_that_fails_do_not_pile_up(tmp_path: Path) -> None:
    store = FaultyStore(tmp_path / "m.db", ["tool_call"], error=StorageFailure("the disk is gone"))
    with store, StoreRouter(store) as router:
        session = router.session(ADA, options=SessionOptions(on_fault="raise"))
        for number in range(5):
            session.tool_call("add", {"a": number}, call_id=f"c{number}")
        router.close()
        run = session.conversation.run
        assert run is not None and not run.waiting
        assert sum(session.faults.counts().values()) + sum(store.status().faults.values()) > 0


def test_a_coroutine_tells_of_a_call_without_the_disk_even_beside_one_who_writes(tmp_path: Path) -> None:
    entered, leave, heard = threading.Event(), threading.Event(), list[str]()

    def tap(verb: str) -> None:
        heard.append(verb)
        if verb == "agent_message":
            entered.set()
            leave.wait(5)

    with TappedStore(tmp_path / "m.db", tap) as store, StoreRouter(store) as router:
        session = router.session(ADA)

        async def main() -> None:
            await session.aio.run_started()
            heard.clear()
            await session.aio.tool_call("add", {"a": 1}, call_id="c1")
            assert heard == []
            writing = asyncio.create_task(session.aio.agent_message("One moment."))
            await asyncio.to_thread(entered.wait, 5)
            await session.aio.tool_call("add", {"a": 2}, call_id="c2")
            assert not writing.done()
            leave.set()
            await writing

        asyncio.run(main())
        router.close()
        assert heard == ["tool_call", "agent_message", "tool_call"]
