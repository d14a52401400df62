"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.haystack import AssayHook, tools

from .harness import agent_of
from .test_hooks import says

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"
UNAVAILABLE = "Memory is not available at the moment."
ADA = {"user_id": "ada", "session_id": "s1"}
BOB = {"user_id": "bob", "session_id": "b1"}


@pytest.fixture
def router(tmp_path: Path) -> Iterator[StoreRouter]:
    with StoreRouter(tmp_path / "{user}.db") as router:
        yield router


def run(target: Any, *steps: Any, context: dict[str, Any] | None = None, awaits: bool = False) -> list[str]:
    """Give what the tools answered."""
    agent = AssayHook(target).attach(agent_of(Script(*steps), tools=tools(target)))
    if awaits:
        result = asyncio.run(agent.run_async(says("Hello"), hook_context=context))
    else:
        result = agent.run(says("Hello"), hook_context=context)
    return [str(one.result) for message in result["messages"] for one in message.tool_call_results]


@pytest.mark.parametrize("awaits", [False, True])
def test_recall_gives_fenced_lines_with_refs(router: StoreRouter, awaits: bool) -> None:
    with Store(router.path("ada")) as store:
        ref = store.record(FACT, session="earlier").ref
        steps = Call("recall", {"query": QUESTION}), Say("On Tuesday.")
        (found,) = run(router, *steps, context=ADA, awaits=awaits)
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_remember_keeps_a_statement_of_the_agent_in_the_session_of_the_run(router: StoreRouter) -> None:
    (answer,) = run(router, Call("remember", {"text": FACT}), Say("I will."), context=ADA)
    with Store(router.path("ada")) as store:
        hello, episode, said = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")
    assert (hello.content, said.content) == ("Hello", "I will."), "they are not recorded as tools"
    assert len({(one.session, one.run) for one in (hello, episode, said)}) == 1


def test_they_tell_the_model_nothing_of_user_and_session(router: StoreRouter) -> None:
    schemas = {tool.name: [*tool.parameters["properties"]] for tool in tools(router)}
    assert schemas == {"recall": ["query"], "remember": ["text"]}


def test_a_user_finds_nothing_of_another(router: StoreRouter) -> None:
    run(router, Call("remember", {"text": FACT}), Say("I will."), context=ADA)
    (found,) = run(router, Call("recall", {"query": QUESTION}), Say("I do not know."), context=BOB)
    assert FACT not in found


def test_without_hooks_they_serve_whom_they_are_made_for(router: StoreRouter) -> None:
    made = tools(router, user="ada", session="s1")
    agent_of(Script(Call("remember", {"text": FACT}), Say("I will.")), tools=made).run(says("Hello"))
    with Store(router.path("ada")) as store:
        assert [(episode.content, episode.session) for episode in store.episodes.list()] == [(FACT, "s1")]


def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, router: StoreRouter, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"):
        assert run(router, *calls) == [UNAVAILABLE, UNAVAILABLE]
        assert run(broken, *calls, context=ADA) == [UNAVAILABLE, UNAVAILABLE]
    broken.close()
