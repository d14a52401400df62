"""When a session is consolidated, and by whom."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.model.wrap import WrapStatus
from assay.session import Session, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import ScriptedComposer
from assay.testing.composer import forged_document, honest_document


def policy(wrap: WrapPolicy) -> SessionOptions:
    return SessionOptions(wrap=wrap)


def a_run(session: Session, number: int = 0) -> None:
    session.run_started()
    session.user_message(f"Fact number {number} is about the {'abcdefghij'[number % 10] * 5} service")
    session.run_ended(f"Noted fact number {number}.")


def test_a_wrap_is_due_when_enough_has_gathered(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.after(5)))
    composer = ScriptedComposer(honest_document)
    statuses: list[str] = []
    for number in range(3):
        a_run(session, number)
        statuses.append(session.wrap(composer).status.value)
    assert statuses == ["not_due", "not_due", "committed"]
    assert session.wrap(composer).status is WrapStatus.NOT_DUE


def test_manual_never_wraps_by_itself(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.manual()))
    a_run(session)
    assert session.end(ScriptedComposer(honest_document)).status is WrapStatus.NOT_DUE
    assert session.wrap(ScriptedComposer(honest_document), now=True).status is WrapStatus.COMMITTED


def test_a_session_left_idle_is_wrapped_at_the_end_of_the_next_run(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, 9, tzinfo=UTC)]
    with Store(tmp_path / "m.db", clock=lambda: now[0]) as store, StoreRouter(store) as router:
        composer = ScriptedComposer(honest_document)
        a_run(router.session(SessionKey(None, "s1")), 1)
        assert router.session(SessionKey(None, "s1")).wrap(composer).status is WrapStatus.NOT_DUE
        now[0] += timedelta(hours=5)
        a_run(router.session(SessionKey(None, "s2")), 2)
        assert router.session(SessionKey(None, "s2")).wrap(composer).status is WrapStatus.NOT_DUE
        now[0] += timedelta(hours=7)
        a_run(router.session(SessionKey(None, "s3")), 3)
        assert router.session(SessionKey(None, "s3")).wrap(composer).status is WrapStatus.COMMITTED


def test_neither_an_open_nor_a_failed_run_wraps_and_its_episodes_wait(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    composer = ScriptedComposer(honest_document)
    session.run_started()
    session.user_message("Begin something that fails")
    assert "open" in session.wrap(composer).message
    session.run_failed(RuntimeError("down"))
    assert "failed" in session.wrap(composer).message
    a_run(session)
    result = session.wrap(composer)
    assert result.status is WrapStatus.COMMITTED
    assert "Begin something that fails" in composer.prompts[0]


def test_a_sub_agent_does_not_wrap(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    a_run(session)
    assert session.sub("helper").wrap(ScriptedComposer(honest_document)).status is WrapStatus.NOT_DUE


def test_findings_go_back_to_the_composer(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    a_run(session)
    composer = ScriptedComposer(forged_document, honest_document)
    result = session.wrap(composer)
    assert result.status is WrapStatus.COMMITTED
    assert "ep_zzzzzzzz" in composer.prompts[1]
    assert result.usage.tokens_in > 0 and result.usage.tokens_out > 0


def test_a_composer_that_raises_leaves_no_open_wrap(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    a_run(session)

    def down(prompt: str) -> str:
        raise ConnectionError("the provider is down")

    with pytest.raises(ConnectionError):
        session.wrap(down)
    with Store(desk.path) as store:
        assert store.status().open_wrap is None
    assert session.wrap(ScriptedComposer(honest_document)).status is WrapStatus.COMMITTED


def test_the_policys_model_comes_before_the_agents_own(desk: Any) -> None:
    cheap, own = ScriptedComposer(honest_document), ScriptedComposer(honest_document)
    session = desk.session(options=policy(WrapPolicy.each_run().composed_by(cheap)))
    a_run(session)
    session.end(own)
    assert len(cheap.prompts) == 1 and own.prompts == []


def test_the_end_closes_the_run_once(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    session.run_started()
    session.user_message("Goodbye for now")
    composer = ScriptedComposer(honest_document)
    assert session.end(composer).status is WrapStatus.COMMITTED
    assert session.end(composer).status in (WrapStatus.NOT_DUE, WrapStatus.EMPTY)
    assert session.end().status is WrapStatus.NOT_DUE
    assert len(composer.prompts) == 1


def test_a_session_without_the_baton_is_told_so_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Store(tmp_path / "m.db", requires_baton=True) as store, StoreRouter(store) as router:
        session = router.session(SessionKey(None, "s"), options=policy(WrapPolicy.each_run()))
        for number in range(2):
            a_run(session, number)
            assert session.wrap(ScriptedComposer(honest_document)).status is WrapStatus.NO_AUTHORITY
    assert len([record for record in caplog.records if "may not wrap" in record.message]) == 1


@pytest.mark.parametrize("threaded", [False, True])
def test_the_wraps_own_model_call_is_neither_recorded_nor_briefed(desk: Any, threaded: bool) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    a_run(session)
    seen: list[object] = []

    def hooks() -> None:
        again = desk.session(options=policy(WrapPolicy.each_run()))
        seen.append(again.composing)
        again.user_message("Rewrite the memory document")
        again.agent_message("the document")
        again.run_ended("the document")
        seen.append(again.briefing("fact number").text)

    def compose(prompt: str) -> str:
        if threaded:  # a context variable does not follow the call there
            thread = threading.Thread(target=hooks)
            thread.start()
            thread.join()
        else:
            hooks()
        return honest_document(prompt)

    before = desk.texts()
    assert session.wrap(compose).status is WrapStatus.COMMITTED
    assert seen == [True, ""]
    assert desk.texts() == before
    assert not session.composing


def test_a_run_that_begins_beside_a_wrap_is_recorded(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    a_run(session)

    def compose(prompt: str) -> str:
        thread = threading.Thread(target=a_run, args=(desk.session(), 7))
        thread.start()
        thread.join()
        return honest_document(prompt)

    session.wrap(compose)
    assert "Noted fact number 7." in desk.texts()


def asynchronous(compose: Callable[[str], str]) -> Any:
    async def composer(prompt: str) -> str:
        await asyncio.sleep(0)
        return compose(prompt)

    return composer


@pytest.mark.parametrize("form", [lambda compose: compose, asynchronous])
def test_an_async_session_takes_either_kind_of_composer(desk: Any, form: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    composer = ScriptedComposer(forged_document, honest_document)

    async def main() -> Any:
        await session.aio.run(lambda: a_run(session))
        return await session.aio.end(form(composer))

    assert asyncio.run(main()).status is WrapStatus.COMMITTED
    assert len(composer.prompts) == 2


def test_an_async_composer_is_refused_where_nothing_awaits_it(desk: Any) -> None:
    session = desk.session(options=policy(WrapPolicy.each_run()))
    a_run(session)
    with pytest.raises(ValueError, match=r"session\.aio\.wrap"):
        session.wrap(asynchronous(honest_document))
