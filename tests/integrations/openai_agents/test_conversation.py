"""A session of the host that records what it keeps, where the host's own runner runs the agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner, SQLiteSession, function_tool
from agents.memory import Session, SessionSettings

from assay import Store
from assay.errors import StorageFailure
from assay.session import MissingUser, StoreRouter
from assay.testing import Call, FaultyStore, Say, Script, ScriptedComposer
from assay.testing.composer import honest_document
from assay.testing.tapped import VERBS
from assay_integrations.openai_agents import AssayRunner, AssaySession

from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


@pytest.fixture
def session(store: Store) -> Iterator[AssaySession]:
    session = AssaySession("s1", store)
    yield session
    session.close()


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in store.episodes.list()]


@function_tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def agent(*steps: Any) -> Agent[Any]:
    script = steps[0] if isinstance(steps[0], Script) else Script(*steps)
    return Agent("main", model=ScriptedModel(script), tools=[add])


def run(session: Session, starting: Agent[Any], text: str = FACT) -> Any:
    return asyncio.run(Runner.run(starting, text, session=session))


def test_it_is_a_session_of_the_host(session: AssaySession) -> None:
    assert isinstance(session, Session)
    asyncio.run(session.add_items([{"role": "user", "content": text} for text in ("one", "two", "three")]))

    async def read() -> list[Any]:
        newest = await session.get_items(2)
        popped = await session.pop_item()
        left = await session.get_items(10)
        await session.clear_session()
        return [newest, popped, left, await session.get_items(), await session.pop_item()]

    newest, popped, left, cleared, nothing = asyncio.run(read())
    assert [item["content"] for item in newest] == ["two", "three"]
    assert popped["content"] == "three"
    assert [item["content"] for item in left] == ["one", "two"]
    assert (cleared, nothing) == ([], None)


def test_a_run_is_recorded_and_its_items_come_back_as_they_were(store: Store, session: AssaySession) -> None:
    script = Script(Call("add", {"a": 1, "b": 2}, "c1"), Say("Three."), Say("Yes."))
    run(session, agent(script), "What is one and two?")
    plain = SQLiteSession("plain")
    asyncio.run(
        Runner.run(agent(Call("add", {"a": 1, "b": 2}, "c1"), Say("Three.")), "What is one and two?", session=plain)
    )
    assert asyncio.run(session.get_items()) == asyncio.run(plain.get_items())
    plain.close()
    run(session, agent(script), "Really?")
    assert told(store) == [
        ("user", "What is one and two?"),
        ("agent", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("agent", "Three."),
        ("user", "Really?"),
        ("agent", "Yes."),
    ]
    assert len({episode.run for episode in store.episodes.list()}) == 2


def test_inside_a_runner_with_a_memory_it_only_keeps_the_items(store: Store, session: AssaySession) -> None:
    store.record(FACT, session="earlier")
    asyncio.run(AssayRunner(store).run(agent(Say("On Tuesday.")), QUESTION, session=session))
    assert [text for _, text in told(store)] == [FACT, QUESTION, "On Tuesday."]
    kept = str(asyncio.run(session.get_items()))
    assert "On Tuesday." in kept
    assert "<memory-" not in kept, "the briefing never enters a session"


def test_it_keeps_its_items_where_the_user_says(store: Store, tmp_path: Path) -> None:
    kept = SQLiteSession("s1", tmp_path / "items.db")
    first = AssaySession("s1", store, underlying_session=kept)
    run(first, agent(Say("Noted.")))
    first.close()
    assert [item["role"] for item in asyncio.run(kept.get_items())] == ["user", "assistant"]  # type: ignore[typeddict-item]
    kept.close()


def test_what_is_taken_out_of_the_conversation_stays_in_the_memory(store: Store, session: AssaySession) -> None:
    run(session, agent(Say("Noted.")))
    asyncio.run(session.clear_session())
    assert told(store) == [("user", FACT), ("agent", "Noted.")]


def test_it_is_consolidated_by_the_model_that_it_is_given(store: Store, session: AssaySession) -> None:
    run(session, agent(Say("Noted.")))
    composer = ScriptedComposer(lambda prompt: honest_document(prompt, about=FACT))
    assert asyncio.run(session.end(composer)).status.value == "not_due"
    assert asyncio.run(session.end(composer, now=True)).status.value == "committed"
    assert FACT in store.continuity.text()


def test_users_are_kept_apart_and_a_missing_one_is_told_at_once(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        with pytest.raises(MissingUser):
            AssaySession("s1", router)
        for user in ("ada", "bob"):
            session = AssaySession("s1", router, user=user)
            run(session, agent(Say("Noted.")), f"I am {user}")
            session.close()
        with Store(router.path("bob")) as store:
            assert [text for _, text in told(store)] == ["I am bob", "Noted."]


def test_a_broken_store_costs_the_conversation_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    session = AssaySession("s1", broken)
    with caplog.at_level(logging.CRITICAL, "assay.session"):
        assert run(session, agent(Say("Noted."))).final_output == "Noted."
    assert len(asyncio.run(session.get_items())) == 2
    session.close()
    broken.heal()
    assert broken.status().faults or session._session.faults.counts()
    broken.close()


def test_the_limit_of_the_underlying_session_holds_for_the_run(store: Store) -> None:
    kept = SQLiteSession("s1", session_settings=SessionSettings(limit=1))
    session = AssaySession("s1", store, underlying_session=kept)
    script = Script(Say("Noted."), Say("On Tuesday."))
    run(session, agent(script))
    run(session, agent(script), QUESTION)
    assert [message.text for message in script.prompts[1].messages] == ["Noted.", QUESTION]
    kept.close()
