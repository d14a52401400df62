"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.langgraph import AssayMiddleware, tools

from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"
ADA: Any = {"configurable": {"thread_id": "t1", "user_id": "ada"}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(target: Any, *steps: Any, config: Any = ADA, loop: bool = False, middleware: Any = ()) -> list[Any]:
    agent = create_agent(ScriptedModel(script=Script(*steps)), tools(target), middleware=list(middleware))
    given: Any = {"messages": [{"role": "user", "content": "Hello"}]}
    done = asyncio.run(agent.ainvoke(given, config)) if loop else agent.invoke(given, config)
    return list(done["messages"])


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_recall_gives_fenced_lines_with_refs(store: Store, loop: bool) -> None:
    ref = store.record(FACT, session="earlier").ref
    found = run(store, Call("recall", {"query": QUESTION}), Say("On Tuesday."), loop=loop)[-2].text
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_remember_keeps_a_statement_of_the_agent(store: Store, loop: bool) -> None:
    answer = run(store, Call("remember", {"text": FACT}), Say("I will."), loop=loop)[-2].text
    (episode,) = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")
    assert episode.session == "t1"


def test_they_tell_the_model_nothing_of_user_and_session() -> None:
    with Store(":memory:") as store:
        assert {tool.name: [*tool.tool_call_schema.model_json_schema()["properties"]] for tool in tools(store)} == {  # type: ignore[union-attr]
            "recall": ["query"],
            "remember": ["text"],
        }


def test_they_share_the_session_of_the_middleware_and_are_not_recorded_as_tools(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        steps = (Call("remember", {"text": FACT}), Call("recall", {"query": QUESTION}, "c1"), Say("Done."))
        run(router, *steps, config={"configurable": {"user_id": "ada"}}, middleware=[AssayMiddleware(router)])
        with Store(router.path("ada")) as store:
            episodes = list(store.episodes.list())
    assert [episode.content for episode in episodes] == ["Hello", FACT, "Done."]
    assert len({(episode.session, episode.run) for episode in episodes}) == 1


def test_a_user_finds_nothing_of_another(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, Call("remember", {"text": FACT}), Say("I will."))
        bob = {"configurable": {"user_id": "bob"}}
        found = run(router, Call("recall", {"query": QUESTION}), Say("I do not know."), config=bob)[-2].text
    assert FACT not in found


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, loop: bool, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"), StoreRouter(tmp_path / "{user}.db") as router:
        for target, config in ((router, {"configurable": {"thread_id": "t1"}}), (broken, ADA)):
            messages = run(target, *calls, config=config, loop=loop)
            assert messages[-1].text == "Then not."
            assert {message.text for message in messages if message.type == "tool"} == {
                "Memory is not available at the moment."
            }
    broken.close()
