"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.dspy import session, tools

from .scripted import scripted_model

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"
UNAVAILABLE = "Memory is not available at the moment."


@pytest.fixture
def router(tmp_path: Path) -> Iterator[StoreRouter]:
    with StoreRouter(tmp_path / "{user}.db") as router:
        yield router


def run(target: Any, *steps: Any) -> list[str]:
    """Give what the tools answered."""
    signature: Any = "question -> answer"
    with dspy.context(lm=scripted_model(Script(*steps))):
        done: Any = dspy.ReAct(signature, tools=tools(target))(question="Hello")
    observed = {name: text for name, text in done.trajectory.items() if name.startswith("observation_")}
    return [text for text in observed.values() if text != "Completed."]


def test_recall_gives_fenced_lines_with_refs(router: StoreRouter) -> None:
    with Store(router.path("ada")) as store, session(router, user="ada", session="s1"):
        ref = store.record(FACT, session="earlier").ref
        (found,) = run(router, Call("recall", {"query": QUESTION}), Say("On Tuesday."))
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_remember_keeps_a_statement_of_the_agent_in_the_run(router: StoreRouter) -> None:
    with session(router, user="ada", session="s1"):
        (answer,) = run(router, Call("remember", {"text": FACT}), Say("I will."))
    with Store(router.path("ada")) as store:
        hello, episode, said = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")
    assert (hello.content, said.content) == ("Hello", "I will."), "they are not recorded as tools"
    assert len({(one.session, one.run) for one in (hello, episode, said)}) == 1


def test_they_tell_the_model_nothing_of_user_and_session(router: StoreRouter) -> None:
    assert {tool.name: [*(tool.args or {})] for tool in tools(router)} == {"recall": ["query"], "remember": ["text"]}


def test_without_a_callback_the_settings_say_whose_they_are(router: StoreRouter) -> None:
    with dspy.context(memory_user="ada"):
        run(router, Call("remember", {"text": FACT}), Say("I will."))
    with dspy.context(memory_user="bob"):
        (found,) = run(router, Call("recall", {"query": QUESTION}), Say("I do not know."))
    assert FACT not in found
    with Store(router.path("ada")) as store:
        assert [episode.content for episode in store.episodes.list()] == [FACT]


def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, router: StoreRouter, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}), Say("Then not."))
    with caplog.at_level(logging.ERROR, "assay.session"):
        assert run(router, *calls) == [UNAVAILABLE, UNAVAILABLE]
    assert "missing_user" in caplog.text
    with FaultyStore(tmp_path / "broken.db", VERBS, error=StorageFailure("the disk is gone")) as broken:
        assert run(broken, *calls) == [UNAVAILABLE, UNAVAILABLE]
