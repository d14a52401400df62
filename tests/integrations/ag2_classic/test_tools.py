"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from autogen.tools import Tool

from assay import Store
from assay.errors import MissingUser, StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.autogen.ag2_classic import session, tools

from .harness import person
from .scripted import scripted

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(target: Any, *steps: Any, user: str | None = "ada") -> tuple[str, list[str]]:
    """Run an agent that has the tools; give its answer, and what its tools gave."""
    return chat(Script(*steps), tools(target, user=user, session="c1"))


def chat(script: Script, given: list[Tool], memory: Any = None) -> tuple[str, list[str]]:
    speaks = person()
    main = scripted("main", script, tools=given, executor=speaks)
    if memory is not None:
        memory.attach(main)
    answer = speaks.initiate_chat(main, message="Hello", silent=True).chat_history[-1]["content"]
    return str(answer), [*script.prompts[-1].of("tool")]


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
        schemas: list[Any] = [one.tool_schema["function"] for one in tools(store)]
    assert {one["name"]: [*one["parameters"]["properties"]] for one in schemas} == {
        "recall": ["query"],
        "remember": ["text"],
    }


def test_they_share_the_session_of_the_hooks_and_are_not_recorded_as_tools(store: Store) -> None:
    script = Script(Call("remember", {"text": FACT}), Call("recall", {"query": QUESTION}, "c1"), Say("Done."))
    with session(store, user="ada", session="c1") as memory:
        chat(script, memory.tools(), memory)
    assert [(episode.source, episode.content) for episode in store.episodes.list()] == [
        ("user:ada", "Hello"),
        ("agent:main", FACT),
        ("agent:main", "Done."),
    ]
    assert len({(episode.session, episode.run) for episode in store.episodes.list()}) == 1


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
