"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ag2 import Agent
from ag2.annotations import Context
from ag2.middleware.base import MiddlewareFactory
from ag2.tools.subagents.run_task import run_task

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.autogen.ag2 import AssayMiddleware, tools

from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(
    target: Any, *steps: Any, user: str | None = "ada", middleware: tuple[MiddlewareFactory, ...] = ()
) -> tuple[str | None, list[str]]:
    """Run an agent that has the tools; give its answer, and what its tools gave."""
    script = Script(*steps)
    agent = Agent("main", config=ScriptedModel(script), tools=tools(target), middleware=middleware)
    variables = {"session_id": "c1", **({} if user is None else {"user_id": user})}
    reply = asyncio.run(agent.ask("Hello", variables=variables))
    return reply.body, [*script.prompts[-1].of("tool")]


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
        shown = {one.name: one.schema.function.parameters["properties"] for one in tools(store)}
    assert {name: [*properties] for name, properties in shown.items()} == {"recall": ["query"], "remember": ["text"]}


def test_they_share_the_session_of_the_middleware_and_are_not_recorded_as_tools(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        steps = (Call("remember", {"text": FACT}), Call("recall", {"query": QUESTION}, "c1"), Say("Done."))
        run(router, *steps, middleware=(AssayMiddleware(router),))
        with Store(router.path("ada")) as store:
            episodes = list(store.episodes.list())
    assert [episode.content for episode in episodes] == ["Hello", FACT, "Done."]
    assert len({(episode.session, episode.run) for episode in episodes}) == 1


def test_a_sub_agent_remembers_under_its_own_name(store: Store) -> None:
    router = StoreRouter(store)
    script = Script(sub=[Call("remember", {"text": FACT}), Say("Kept.")])
    memory = AssayMiddleware(router)
    sub = Agent("sub", config=ScriptedModel(script, "sub"), tools=tools(router), middleware=[memory])

    async def ask(context: Context) -> str:
        """Ask the sub-agent."""
        return str((await run_task(sub, "Keep it", parent_context=context)).result)

    main = Agent("main", config=ScriptedModel(Script(Call("ask", {}), Say("Done."))), tools=[ask], middleware=[memory])
    asyncio.run(main.ask("Hello", variables={"session_id": "c1"}))
    assert [(one.source, one.session) for one in store.episodes.list() if one.content == FACT] == [("agent:sub", "c1")]


def test_a_user_finds_nothing_of_another(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, Call("remember", {"text": FACT}), Say("I will."))
        _, (found,) = run(router, Call("recall", {"query": QUESTION}), Say("I do not know."), user="bob")
    assert FACT not in found


def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"), StoreRouter(tmp_path / "{user}.db") as router:
        for target, user in ((router, None), (broken, "ada")):
            answer, given = run(target, *calls, user=user)
            assert answer == "Then not."
            assert set(given) == {"Memory is not available at the moment."}
    broken.close()
