"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from smolagents import CodeAgent, LogLevel, ToolCallingAgent
from smolagents.memory import ActionStep

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.smolagents import session, tools

from .scripted import ScriptedModel
from .test_memory import Plain

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"
UNAVAILABLE = "Memory is not available at the moment."


@pytest.fixture
def router(tmp_path: Path) -> Iterator[StoreRouter]:
    with StoreRouter(tmp_path / "{user}.db") as router:
        yield router


def agent_with(target: Any, *steps: Any) -> ToolCallingAgent:
    return ToolCallingAgent(tools(target), ScriptedModel(Script(*steps)), verbosity_level=LogLevel.OFF)


def run(agent: Any) -> list[str]:
    """Give what the tools answered."""
    agent.run("Hello")
    steps = [step for step in agent.memory.steps if isinstance(step, ActionStep) and not step.is_final_answer]
    return [str(step.observations) for step in steps]


def test_recall_gives_fenced_lines_with_refs(router: StoreRouter) -> None:
    agent = agent_with(router, Call("recall", {"query": QUESTION}), Say("On Tuesday."))
    with Store(router.path("ada")) as store, session(router, user="ada", session="s1") as memory:
        ref = store.record(FACT, session="earlier").ref
        (found,) = run(memory.attach(agent))
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_remember_keeps_a_statement_of_the_agent_in_the_session_of_the_run(router: StoreRouter) -> None:
    agent = agent_with(router, Call("remember", {"text": FACT}), Say("I will."))
    with session(router, user="ada", session="s1") as memory:
        (answer,) = run(memory.attach(agent))
    with Store(router.path("ada")) as store:
        hello, episode, said = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")
    assert (hello.content, said.content) == ("Hello", "I will."), "they are not recorded as tools"
    assert len({(one.session, one.run) for one in (hello, episode, said)}) == 1


def test_code_calls_them_like_functions(router: StoreRouter) -> None:
    code = "<code>\nprint(remember('The captain is Grace'))\nprint(recall(query='when do deploys go out'))\n</code>"
    model = Plain(code, "<code>final_answer('On Tuesday.')</code>")
    with Store(router.path("ada")) as store, session(router, user="ada", session="s1") as memory:
        store.record(FACT, session="earlier")
        (printed,) = run(memory.attach(CodeAgent(tools(router), model, verbosity_level=LogLevel.OFF)))
    assert "ep_" in printed and FACT in printed


def test_they_tell_the_model_nothing_of_user_and_session(router: StoreRouter) -> None:
    assert {tool.name: [*tool.inputs] for tool in tools(router)} == {"recall": ["query"], "remember": ["text"]}


def test_a_user_finds_nothing_of_another(router: StoreRouter) -> None:
    with session(router, user="ada") as memory:
        run(memory.attach(agent_with(router, Call("remember", {"text": FACT}), Say("I will."))))
    with session(router, user="bob") as memory:
        (found,) = run(memory.attach(agent_with(router, Call("recall", {"query": QUESTION}), Say("I do not know."))))
    assert FACT not in found


def test_without_an_attached_memory_they_serve_whom_they_are_made_for(router: StoreRouter) -> None:
    model = ScriptedModel(Script(Call("remember", {"text": FACT}), Say("I will.")))
    run(ToolCallingAgent(tools(router, user="ada", session="s1"), model, verbosity_level=LogLevel.OFF))
    with Store(router.path("ada")) as store:
        assert [(episode.content, episode.session) for episode in store.episodes.list()] == [(FACT, "s1")]


def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, router: StoreRouter, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"):
        assert run(agent_with(router, *calls)) == [UNAVAILABLE, UNAVAILABLE]
        with session(broken, session="s1") as memory:
            assert run(memory.attach(agent_with(broken, *calls))) == [UNAVAILABLE, UNAVAILABLE]
    broken.close()
