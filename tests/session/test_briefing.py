"""What a run is shown."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.errors import StorageFailure
from assay.session import SessionOptions, StoreRouter, recall_tool, remember_tool
from assay.session.keys import SessionKey
from assay.testing import FaultyStore
from assay.testing.tapped import TappedStore

FACT = "Deploys of the billing service go out on Tuesday evenings at six"
ASK = "When do deploys of the billing service go out?"


def test_a_briefing_is_the_same_in_every_call_of_a_run(desk: Any) -> None:
    desk.session("told").user_message(FACT)
    session = desk.session("asks")
    session.run_started()
    session.user_message(ASK)
    first = session.briefing()
    desk.session("told").user_message("Deploys of the billing service need two reviews")
    assert FACT in first.text
    assert session.briefing() is first
    session.run_ended("On Tuesday.")
    session.run_started()
    session.user_message(ASK)
    assert session.briefing().text != first.text


def test_a_briefing_that_the_run_has_is_given_without_the_disk_and_without_waiting(tmp_path: Path) -> None:
    touched: list[str] = []
    with TappedStore(tmp_path / "m.db", touched.append) as store, StoreRouter(store) as router:
        router.session(SessionKey(None, "told")).user_message(FACT)
        session = router.session(SessionKey(None, "asks"))
        session.user_message(ASK)
        assert session.briefed() is None
        made = session.briefing()
        touched.clear()

        async def main() -> None:
            assert await session.aio.briefing() is await session.aio.briefing(ASK) is made
            with ThreadPoolExecutor(1) as others, session.conversation.lock:
                assert others.submit(session.briefed).result(5) is None, "it waits for who tells the session something"

        asyncio.run(main())
        assert session.briefing() is made and touched == []
        assert session.briefed("another question") is None and FACT in session.found(ASK)


def test_what_the_run_itself_said_is_not_recalled_to_it(desk: Any) -> None:
    session = desk.session()
    session.run_started()
    session.user_message(FACT)
    session.user_message(ASK)
    assert session.briefing().text == ""


def test_the_fence_differs_between_runs(desk: Any) -> None:
    desk.session("told").user_message(FACT)
    names: set[str] = set()
    for number in range(3):
        session = desk.session(f"asks-{number}")
        session.run_started()
        session.user_message(ASK)
        names.add(session.briefing().text.split(" ", 1)[0])
    assert len(names) == 3


def test_a_late_briefing_is_a_fault_once_and_empty_for_the_rest_of_the_run(tmp_path: Path) -> None:
    store = FaultyStore(tmp_path / "m.db", ["briefing"], delay=0.05)
    router = StoreRouter(store)
    session = router.session(SessionKey(None, "s"), options=SessionOptions(briefing_timeout=0.01))
    session.user_message(ASK)
    with pytest.raises(TimeoutError):
        session.briefing()
    assert session.briefing().text == "" and store.hits == 1
    router.close()
    store.close()


def test_a_receipt_that_cannot_be_written_costs_nothing_but_a_fault(tmp_path: Path) -> None:
    with Store(tmp_path / "m.db") as store:
        store.record(FACT)
    faulty = FaultyStore(tmp_path / "m.db", [], error=StorageFailure("full"))
    router = StoreRouter(faulty)
    session = router.session(SessionKey(None, "s"))
    session.run_started()
    session.user_message(ASK)
    faulty.fail("runs")
    assert FACT in session.briefing().text
    assert session.faults.counts() == {"receipt": 1}
    faulty.heal()
    session.agent_message("On Tuesday.")
    assert faulty.status().faults == {"receipt": 1}
    assert session.faults.counts() == {}
    router.close()
    faulty.close()


def test_the_models_own_tools_recall_and_remember(desk: Any) -> None:
    session = desk.session("told")
    said = remember_tool(session, FACT)
    assert said.startswith("Kept as ep_")
    later = desk.session("asks")
    assert FACT in recall_tool(later, ASK)
    assert recall_tool(later, "zebra crossing colours") in (
        "Memory holds nothing on that.",
        recall_tool(later, "zebra"),
    )
    assert "Nothing was kept" in remember_tool(later, FACT)
    later.tool_call("recall", {"query": ASK}, call_id="c1")
    later.tool_result("recall", recall_tool(later, ASK), call_id="c1")
    assert desk.texts() == [FACT]
