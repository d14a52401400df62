"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.llama_index import session, tools

from .scripted import scripted

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(target: Any, *steps: Any, user: str | None = "ada", remembers: bool = True) -> tuple[str, list[str]]:
    """Run an agent that has the tools; give its answer, and what its tools gave."""
    agent = FunctionAgent(name="main", tools=[*tools(target, user=user)], llm=scripted(Script(*steps)))

    async def go() -> Any:
        if not remembers:
            return await agent.run("Hello")
        async with session(target, user=user, session="c1") as memory:
            return await agent.run("Hello", memory=memory)

    output = asyncio.run(go())
    return str(output), [str(call.tool_output.content) for call in output.tool_calls]


def test_recall_gives_fenced_lines_with_refs(store: Store) -> None:
    ref = store.record(FACT, session="earlier").ref
    _, (found,) = run(store, Call("recall", {"query": QUESTION}), Say("On Tuesday."))
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_they_share_the_session_of_the_run_and_are_not_recorded_as_tools(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        steps = (Call("remember", {"text": FACT}, "c0"), Call("recall", {"query": QUESTION}, "c1"), Say("Done."))
        _, (answer, _) = run(router, *steps)
        with Store(router.path("ada")) as store:
            episodes = list(store.episodes.list())
    assert [episode.content for episode in episodes] == ["Hello", FACT, "Done."]
    assert len({(episode.session, episode.run) for episode in episodes}) == 1
    assert episodes[1].ref[:11] in answer
    assert (episodes[1].origin.value, episodes[1].trust.value) == ("agent", "agent")


def test_without_a_memory_the_agent_keeps_on_purpose_alone(store: Store) -> None:
    run(store, Call("remember", {"text": FACT}), Say("I will."), remembers=False)
    assert [episode.content for episode in store.episodes.list()] == [FACT]


def test_they_tell_the_model_nothing_of_user_and_session() -> None:
    with Store(":memory:") as store:
        shown = {tool.metadata.name: tool.metadata for tool in tools(store, user="ada")}
    assert {name: [*one.get_parameters_dict()["properties"]] for name, one in shown.items()} == {
        "recall": ["query"],
        "remember": ["text"],
    }
    assert all(one.description for one in shown.values())


def test_a_user_finds_nothing_of_another(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, Call("remember", {"text": FACT}), Say("I will."))
        _, (found,) = run(router, Call("recall", {"query": QUESTION}), Say("I do not know."), user="bob")
    assert FACT not in found


def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}, "c0"), Call("remember", {"text": FACT}, "c1"), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"), StoreRouter(tmp_path / "{user}.db") as router:
        for target, user, remembers in ((router, None, False), (broken, "ada", True)):
            answer, given = run(target, *calls, user=user, remembers=remembers)
            assert answer == "Then not."
            assert set(given) == {"Memory is not available at the moment."}
    broken.close()
