"""Events of hooks that cannot wait."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from pathlib import Path
from typing import Any

from assay.session import Relay, SessionKey, SessionOptions, StoreRouter
from assay.testing.tapped import TappedStore


def test_events_are_told_in_order_by_the_worker(tmp_path: Path) -> None:
    touched: set[int] = set()
    store = TappedStore(tmp_path / "m.db", lambda verb: touched.add(threading.get_ident()))
    with store, StoreRouter(store) as router:
        session = router.session(SessionKey(None, "s"))

        async def main() -> None:
            relay = Relay(session)
            for number in range(20):
                relay.tell("agent_message", partial(session.agent_message, f"message number {number}"))
                await asyncio.sleep(0)
            await relay.settled()

        asyncio.run(main())
        assert [one.content for one in store.episodes.list()] == [f"message number {number}" for number in range(20)]
        assert touched and threading.get_ident() not in touched


def test_what_nobody_waits_for_is_told_all_the_same(desk: Any) -> None:
    session = desk.session()

    async def main() -> None:
        Relay(session).tell("tool_call", partial(session.tool_call, "long", {"hours": 1}, call_id="c1"))
        for _ in range(500):
            await asyncio.sleep(0.01)
            if desk.texts():
                break

    asyncio.run(main())
    assert desk.texts() == ['long {"hours": 1}']


def test_an_event_told_while_others_are_on_their_way_is_not_left_behind(desk: Any) -> None:
    session = desk.session()
    relay = Relay(session)

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def first() -> None:
            session.agent_message("the first message")
            loop.call_soon_threadsafe(relay.tell, "agent_message", partial(session.agent_message, "the second message"))

        relay.tell("agent_message", first)
        await relay.settled()
        await asyncio.sleep(0)
        await relay.settled()

    asyncio.run(main())
    assert desk.texts() == ["the first message", "the second message"]


def test_a_fault_of_one_event_is_counted_and_the_next_is_told(desk: Any) -> None:
    session = desk.session()

    async def main() -> None:
        relay = Relay(session)
        relay.tell("tool_call", partial(divmod, 1, 0))
        relay.tell("agent_message", partial(session.agent_message, "told all the same"))
        await relay.settled()

    asyncio.run(main())
    assert desk.texts() == ["told all the same"]
    with session.store() as store:
        assert store.status().faults == {"tool_call": 1}


def test_events_for_a_store_that_was_closed_end_the_waiting(desk: Any) -> None:
    session = desk.session()
    desk.router.close()

    async def main() -> None:
        relay = Relay(session)
        relay.tell("agent_message", partial(session.agent_message, "too late"))
        await asyncio.wait_for(relay.settled(), 5)

    asyncio.run(main())
    assert session.faults.counts() == {"record": 1}


def test_what_waits_can_be_told_at_once(desk: Any) -> None:
    session = desk.session(options=SessionOptions())

    async def main() -> None:
        relay = Relay(session)
        relay.tell("agent_message", partial(session.agent_message, "before the loop ends"))
        relay.flush()
        assert desk.texts() == ["before the loop ends"]
        await relay.settled()

    asyncio.run(main())


def test_a_loop_that_ends_at_once_takes_no_event_with_it(desk: Any) -> None:
    session = desk.session()
    relay = Relay(session)

    async def main(text: str) -> None:
        relay.tell("agent_message", partial(session.agent_message, text))
        await asyncio.sleep(0.001)

    asyncio.run(main("the first message"))
    assert desk.texts() == ["the first message"]
    asyncio.run(main("the second message"))
    assert desk.texts() == ["the first message", "the second message"]


def test_a_relay_outlives_a_loop_that_was_left_open(desk: Any) -> None:
    session = desk.session()
    relay, left = Relay(session), asyncio.new_event_loop()

    async def main(text: str) -> None:
        relay.tell("agent_message", partial(session.agent_message, text))

    left.run_until_complete(main("the first message"))

    async def later() -> None:
        await main("the second message")
        for _ in range(500):
            await asyncio.sleep(0.01)
            if len(desk.texts()) == 2:
                break

    asyncio.run(later())
    assert desk.texts() == ["the first message", "the second message"]
    left.run_until_complete(asyncio.sleep(0.1))  # its own hand-over finds nothing left
    left.close()
