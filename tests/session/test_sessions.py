"""What the object that an adapter gives its host holds, and the conversation that agents are bound to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.session import SessionKey, SessionOptions, Sessions, Talk, WrapPolicy, WrapStatus
from assay.testing.composer import honest_document

ADA = SessionKey("ada", "s1")
FACT = "Deploys of the billing service go out on Tuesday evenings at six"
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions[str]]:
    sessions = Sessions[str](tmp_path / "memory.db", EACH_RUN, host="test")
    yield sessions
    sessions.close()


def compose(model: str, prompt: str) -> str:
    return honest_document(prompt, about=FACT)


async def acompose(model: str, prompt: str) -> str:
    return compose(model, prompt)


def continuity(sessions: Sessions[str]) -> str:
    with sessions.of_key(ADA).store() as store:
        return store.continuity.text()


def ran(sessions: Sessions[str]) -> None:
    session = sessions.of_key(ADA)
    session.run_started()
    session.user_message(FACT)
    session.run_ended(None)


def test_a_wrap_waits_until_a_model_was_seen(sessions: Sessions[str]) -> None:
    ran(sessions)
    sessions.wrap(sessions.of_key(ADA), compose)
    assert continuity(sessions) == ""
    sessions.keep_model(sessions.of_key(ADA), "a model")
    sessions.wrap(sessions.of_key(ADA), compose)
    assert FACT in continuity(sessions)


def test_a_wrap_from_an_event_loop_is_the_same(sessions: Sessions[str]) -> None:
    ran(sessions)
    sessions.keep_model(sessions.of_key(ADA), "a model")
    asyncio.run(sessions.awrap(sessions.of_key(ADA), acompose))
    assert FACT in continuity(sessions)


def test_the_policys_model_composes_where_no_agents_was_seen(tmp_path: Path) -> None:
    policy = WrapPolicy.each_run().composed_by(lambda prompt: honest_document(prompt, about=FACT))
    sessions = Sessions[str](tmp_path / "memory.db", SessionOptions(wrap=policy), host="test")
    ran(sessions)
    assert sessions.end(ADA, compose, now=False).status is WrapStatus.COMMITTED
    sessions.close()


def test_a_sub_agents_model_never_composes(sessions: Sessions[str]) -> None:
    ran(sessions)
    sub = sessions.of_key(ADA).sub(None)
    sessions.keep_model(sub, "its model")
    sessions.keep_model(sessions.of_key(ADA), "a model")
    sessions.wrap(sub, compose)
    assert continuity(sessions) == "" and sub.key.agent == "sub-agent"


def test_a_session_without_a_name_can_be_ended(sessions: Sessions[str]) -> None:
    session = sessions.of_key(SessionKey("ada"))
    sessions.keep_model(session, "a model")
    session.user_message(FACT)
    assert sessions.end(session, compose, now=False).status is WrapStatus.COMMITTED
    assert session.conversation.run is None


def test_a_fault_of_a_wrap_in_a_run_is_counted_and_of_an_end_is_raised(sessions: Sessions[str]) -> None:
    ran(sessions)
    session = sessions.of_key(ADA)
    sessions.keep_model(session, "a model")
    sessions.close()
    sessions.wrap(session, compose)
    assert session.faults.counts() == {"wrap": 1}
    with pytest.raises(Exception, match="closed"):
        sessions.end(session, compose, now=True)


def test_the_tools_of_a_model_answer_in_words(sessions: Sessions[str]) -> None:
    session = sessions.of_key(ADA)
    assert sessions.remember(session, FACT).startswith("Kept as ep_")
    assert FACT in sessions.recall(sessions.of_key(SessionKey("ada", "s2")), "When do deploys of billing go out?")
    assert sessions.recall(None, "anything") == asyncio.run(sessions.aremember(None, "anything"))


def test_an_agent_is_alone_until_it_is_watched_or_another_one_waits(sessions: Sessions[str]) -> None:
    talk = Talk.of(sessions, ADA, ["proxy"])
    first, second = object(), object()
    assert talk.alone(first) and talk.people == {"proxy"}
    talk.calling[first] = "helper"
    assert talk.alone(first) and talk.nested(second) and talk.caller.key.agent == "helper"
    with talk.watching() as own:
        assert not own and talk.calling == {first: "helper"}, "a run that a tool begins is a part of another one"
    talk.calling.clear()
    with talk.watching() as own:
        assert own and not talk.alone(first)
        talk.calling[first] = "helper"
    assert talk.calling == {} and talk.alone(second)
