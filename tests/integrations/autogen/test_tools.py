"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.tools import AgentTool

from assay import Store
from assay.errors import MissingUser, StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.autogen.agentchat import session, tools

from .scripted import ScriptedClient

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(target: Any, *steps: Any, user: str | None = "ada") -> tuple[str, list[str]]:
    """Run an agent that has the tools; give its answer, and what its tools gave."""
    script = Script(*steps)
    given: Any = tools(target, user=user, session="c1")
    agent = AssistantAgent("main", ScriptedClient(script), tools=given, max_tool_iterations=9)
    result = asyncio.run(agent.run(task="Hello"))
    return result.messages[-1].to_text(), [*script.prompts[-1].of("tool")]


def test_recall_gives_fenced_lines_with_refs(store: Store) -> None:
    ref = store.record(FACT, session="earlier").ref
    _, (found,) = run(store, Call("recall", {"query": QUESTION}), Say("On Tuesday."))
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_remember_keeps_a_statement_of_the_agent(store: Store) -> None:
    _, (answer,) = run(store, Call("remember", {"text": FACT}), Say("I will."))
    (episode,) = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")
    assert episode.session == "c1"


def test_they_tell_the_model_nothing_of_user_and_session() -> None:
    with Store(":memory:") as store:
        schemas: list[Any] = [one.schema for one in tools(store)]
    assert {one["name"]: [*one["parameters"]["properties"]] for one in schemas} == {
        "recall": ["query"],
        "remember": ["text"],
    }


def test_they_share_the_session_of_the_contexts_and_are_not_recorded_as_tools(store: Store) -> None:
    script = Script(Call("remember", {"text": FACT}), Call("recall", {"query": QUESTION}, "c1"), Say("Done."))
    with session(store, user="ada", session="c1") as memory:
        given: Any = memory.tools()
        client, context = ScriptedClient(script), memory.context()
        agent = AssistantAgent("main", client, tools=given, model_context=context, max_tool_iterations=9)
        asyncio.run(memory.run(agent, task="Hello"))
    assert [episode.content for episode in store.episodes.list()] == ["Hello", FACT, "Done."]
    assert {(episode.source, episode.session) for episode in store.episodes.list()} == {
        ("user:ada", "c1"),
        ("agent:main", "c1"),
    }


def test_a_sub_agent_remembers_under_its_own_name(store: Store) -> None:
    script = Script(
        Call("sub", {"task": "Keep it"}), Say("Done."), sub=[Call("remember", {"text": FACT}), Say("Kept.")]
    )
    with session(store, session="c1") as memory:
        given: Any = memory.tools()
        inner = ScriptedClient(script, "sub")
        sub = AssistantAgent("sub", inner, tools=given, model_context=memory.context(), max_tool_iterations=9)
        outer: Any = [AgentTool(sub)]
        main = ScriptedClient(script)
        agent = AssistantAgent("main", main, tools=outer, model_context=memory.context(), max_tool_iterations=9)
        asyncio.run(memory.run(agent, task="Hello"))
    assert [(one.source, one.session) for one in store.episodes.list() if one.content == FACT] == [("agent:sub", "c1")]


def test_a_user_finds_nothing_of_another(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, Call("remember", {"text": FACT}), Say("I will."))
        _, (found,) = run(router, Call("recall", {"query": QUESTION}), Say("I do not know."), user="bob")
    assert FACT not in found


def test_without_a_user_they_are_not_made(tmp_path: Path) -> None:
    with pytest.raises(MissingUser):
        tools(tmp_path / "{user}.db")


def test_without_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"):
        answer, given = run(broken, *calls)
    assert answer == "Then not."
    assert set(given) == {"Memory is not available at the moment."}
    broken.close()
