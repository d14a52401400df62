"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agents import Agent, FunctionTool, Runner

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, HandOff, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.openai_agents import AssayRunner, tools

from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"
ADA: Any = {"user_id": "ada", "session_id": "t1"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(target: Any, *steps: Any, context: Any = ADA) -> list[str]:
    """Run an agent without a runner of ours, and give what its tools answered."""
    agent = Agent("main", model=ScriptedModel(Script(*steps)), tools=tools(target))
    result = asyncio.run(Runner.run(agent, "Hello", context=context))
    return [str(item.output) for item in result.new_items if item.type == "tool_call_output_item"]


@pytest.mark.parametrize("context", [ADA, SimpleNamespace(**ADA)], ids=["dict", "object"])
def test_recall_gives_fenced_lines_with_refs(store: Store, context: Any) -> None:
    ref = store.record(FACT, session="earlier").ref
    (found,) = run(store, Call("recall", {"query": QUESTION}), Say("On Tuesday."), context=context)
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_remember_keeps_a_statement_of_the_agent(store: Store) -> None:
    (answer,) = run(store, Call("remember", {"text": FACT}), Say("I will."))
    (episode,) = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")
    assert (episode.session, episode.source) == ("t1", "agent:main")


def test_they_tell_the_model_nothing_of_user_and_session(store: Store) -> None:
    schemas = {tool.name: tool.params_json_schema for tool in tools(store) if isinstance(tool, FunctionTool)}
    assert {name: [*schema["properties"]] for name, schema in schemas.items()} == {
        "recall": ["query"],
        "remember": ["text"],
    }


def test_they_share_the_session_of_the_runner_and_are_not_recorded_as_tools(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        steps = (Call("remember", {"text": FACT}), Call("recall", {"query": QUESTION}, "c1"), Say("Done."))
        agent = Agent("main", model=ScriptedModel(Script(*steps)), tools=tools(router))
        asyncio.run(AssayRunner(router).run(agent, "Hello", user="ada"))
        with Store(router.path("ada")) as store:
            episodes = list(store.episodes.list())
    assert [episode.content for episode in episodes] == ["Hello", FACT, "Done."]
    assert len({(episode.session, episode.run) for episode in episodes}) == 1


def test_what_an_agent_that_took_over_remembers_is_its_own(store: Store) -> None:
    router = StoreRouter(store)
    script = Script(HandOff("sub"), sub=[Call("remember", {"text": FACT}), Say("I will.")])
    sub = Agent("sub", model=ScriptedModel(script, "sub"), tools=tools(router))
    main = Agent("main", model=ScriptedModel(script), handoffs=[sub])
    asyncio.run(AssayRunner(router).run(main, "Hello"))
    assert [episode.source for episode in store.episodes.list() if episode.content == FACT] == ["agent:sub"]


def test_a_user_finds_nothing_of_another(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, Call("remember", {"text": FACT}), Say("I will."))
        (found,) = run(router, Call("recall", {"query": QUESTION}), Say("No."), context={"user_id": "bob"})
    assert FACT not in found


def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}, "c1"), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"), StoreRouter(tmp_path / "{user}.db") as router:
        for target, context in ((router, None), (broken, ADA)):
            assert run(target, *calls, context=context) == ["Memory is not available at the moment."] * 2
    broken.close()
