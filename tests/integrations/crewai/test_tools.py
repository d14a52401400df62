"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crewai import Crew, Task

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.crewai import session, tools

from .harness import agent_of

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"
UNAVAILABLE = "Memory is not available at the moment."


@pytest.fixture
def router(tmp_path: Path) -> Iterator[StoreRouter]:
    with StoreRouter(tmp_path / "{user}.db") as router:
        yield router


def run(target: Any, *steps: Any) -> list[str]:
    """Give what the tools answered."""
    agent = agent_of(Script(*steps), tools=tools(target))
    done: Any = Crew(agents=[agent], tasks=[Task(description="Hello", expected_output="x", agent=agent)]).kickoff()
    return [message["content"] for message in done.tasks_output[0].messages if message["role"] == "tool"]


def test_recall_gives_fenced_lines_with_refs(router: StoreRouter) -> None:
    with Store(router.path("ada")) as store, session(router, user="ada", session="s1"):
        ref = store.record(FACT, session="earlier").ref
        (found,) = run(router, Call("recall", {"query": QUESTION}), Say("On Tuesday."))
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_remember_keeps_a_statement_of_the_agent_in_the_session_of_the_kickoff(router: StoreRouter) -> None:
    with session(router, user="ada", session="s1"):
        (answer,) = run(router, Call("remember", {"text": FACT}), Say("I will."))
    with Store(router.path("ada")) as store:
        hello, episode, said = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")
    assert (hello.content, said.content) == ("Hello", "I will."), "they are not recorded as tools"
    assert len({(one.session, one.run) for one in (hello, episode, said)}) == 1


def test_what_was_remembered_since_is_found_by_the_same_query(router: StoreRouter) -> None:
    steps = (
        Call("recall", {"query": QUESTION}),
        Call("remember", {"text": FACT}, "c1"),
        Call("recall", {"query": QUESTION}, "c2"),
        Say("Tuesday."),
    )
    kept = agent_of(Script(*steps), tools=tools(router))
    crew = Crew(agents=[kept], tasks=[Task(description="Hello", expected_output="x", agent=kept)], cache=True)
    with session(router, user="ada", session="s1"):
        crew.kickoff()
    kept.llm.script = Script(Call("recall", {"query": QUESTION}), Say("Tuesday."))  # type: ignore[union-attr]
    with session(router, user="ada", session="s2"):
        done: Any = crew.kickoff()
    assert FACT in next(message["content"] for message in done.tasks_output[0].messages if message["role"] == "tool")


def test_they_tell_the_model_nothing_of_user_and_session(router: StoreRouter) -> None:
    schemas = {tool.name: [*tool.args_schema.model_json_schema()["properties"]] for tool in tools(router)}
    assert schemas == {"recall": ["query"], "remember": ["text"]}


def test_a_user_finds_nothing_of_another(router: StoreRouter) -> None:
    with session(router, user="ada"):
        run(router, Call("remember", {"text": FACT}), Say("I will."))
    with session(router, user="bob"):
        (found,) = run(router, Call("recall", {"query": QUESTION}), Say("I do not know."))
    assert FACT not in found


def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, router: StoreRouter, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"):
        assert run(router, *calls) == [UNAVAILABLE, UNAVAILABLE]
        with session(broken, session="s1"):
            assert run(broken, *calls) == [UNAVAILABLE, UNAVAILABLE]
    broken.close()
