"""A fault of the memory is counted, said once, and never the host's."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from assay.errors import Busy, InvalidInput, MissingUser, StorageFailure
from assay.session import OutOfOrder, SessionKey, SessionOptions, StoreRouter, guard
from assay.session.faults import Breaker, FaultLog
from assay.testing import FaultyStore


def test_a_fault_is_swallowed_counted_and_logged_once(desk: Any, caplog: pytest.LogCaptureFixture) -> None:
    session = desk.session()
    for _ in range(3):
        with guard(session, "record"):
            raise StorageFailure("the disk is gone")
    assert session.faults.counts() == {"record": 3}
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert caplog.records[0].exc_info is not None


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_what_stops_a_program_passes(desk: Any, signal: type[BaseException]) -> None:
    session = desk.session()
    with pytest.raises(signal), guard(session, "record"):
        raise signal
    assert session.faults.counts() == {}


def test_a_person_who_debugs_sees_the_fault(desk: Any) -> None:
    session = desk.session(options=SessionOptions(on_fault="raise"))
    with pytest.raises(ZeroDivisionError), guard(session, "record"):
        raise ZeroDivisionError
    assert session.faults.counts() == {"record": 1}


def test_a_value_has_its_default(desk: Any) -> None:
    session = desk.session()
    assert guard.value(session, lambda: 1, 2) == 1
    assert guard.value(session, lambda: 1 // 0, 2) == 2
    assert session.faults.counts() == {"briefing": 1}


def test_a_missing_user_is_an_error_in_the_log_under_one_code(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    router = StoreRouter(tmp_path / "{user}.db")
    for code in ("user_message", "briefing"):
        assert guard.value(router, lambda: router.session(SessionKey(None, "s")), None, code) is None
    assert router.faults.counts() == {"missing_user": 2}
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_three_faults_in_a_row_give_the_store_half_a_minute_of_rest() -> None:
    now = [0.0]
    breaker = Breaker(lambda: now[0])

    def call(error: Exception | None) -> None:
        with breaker.watch():
            if error is not None:
                raise error

    for _ in range(3):
        with pytest.raises(StorageFailure):
            call(StorageFailure("gone"))
    with pytest.raises(OutOfOrder):
        call(None)
    now[0] = 31.0
    with pytest.raises(StorageFailure):
        call(StorageFailure("still gone"))
    with pytest.raises(OutOfOrder):
        call(None)
    now[0] = 62.0
    call(None)
    call(None)


def test_one_fault_that_kept_the_host_waiting_is_enough() -> None:
    now = [0.0]
    breaker = Breaker(lambda: now[0])

    def call(seconds: float, error: Exception | None) -> None:
        with breaker.watch():
            now[0] += seconds
            if error is not None:
                raise error

    for _ in range(2):
        with pytest.raises(Busy):
            call(1.5, Busy("locked"))
    call(1.5, None)
    with pytest.raises(Busy):
        call(5.0, Busy("locked"))
    with pytest.raises(OutOfOrder):
        call(0.0, None)
    now[0] += 31.0
    call(0.0, None)
    with pytest.raises(Busy):
        call(0.1, Busy("locked"))
    call(0.0, None)


def test_a_bad_argument_is_not_the_stores_fault() -> None:
    breaker = Breaker()
    for _ in range(9):
        with pytest.raises(InvalidInput), breaker.watch():
            raise InvalidInput("content", "empty")
    with breaker.watch():
        pass


def test_faults_reach_the_store_when_it_works_again(tmp_path: Path) -> None:
    store = FaultyStore(tmp_path / "m.db", ["agent_message"], error=StorageFailure("full"))
    router = StoreRouter(store)
    session = router.session(SessionKey(None, "s"))
    for _ in range(2):
        with guard(session, "agent_message"):
            session.agent_message("lost")
    session.user_message("kept")
    assert store.status().faults == {"agent_message": 2}
    router.close()
    store.close()


def test_faults_that_the_store_cannot_take_wait_on() -> None:
    log = FaultLog()
    log.note("s", "record", ValueError())

    def refuse(faults: Any) -> None:
        log.note("s", "record", ValueError())
        log.note("s", "briefing", ValueError())
        raise StorageFailure("full")

    log.hand_over(refuse)
    taken: dict[str, int] = {}
    log.hand_over(lambda faults: taken.update({fault.code: fault.count for fault in faults}))
    assert taken == {"record": 2, "briefing": 1}
    assert log.counts() == {}


def test_a_missing_users_code_is_the_errors_own(tmp_path: Path) -> None:
    assert MissingUser.code == "missing-user"
