"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.plugins import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, Part

from assay import Store
from assay.errors import StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.google_adk import AssayPlugin, tools

from .harness import APP, texts
from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(target: Any, *steps: Any, user: str = "ada", plugins: Any = ()) -> list[Event]:
    agent = LlmAgent(name="main", model=ScriptedModel(script=Script(*steps)), tools=[*tools(target)])
    given: list[BasePlugin] = [*plugins]
    app = App(name=APP, root_agent=agent, plugins=given)
    runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)

    async def collect() -> list[Event]:
        hello = Content(role="user", parts=[Part(text="Hello")])
        return [event async for event in runner.run_async(user_id=user, session_id="s1", new_message=hello)]

    return asyncio.run(collect())


def results(events: list[Event]) -> list[str]:
    answers = [answer for event in events for answer in event.get_function_responses()]
    return [str((answer.response or {})["result"]) for answer in answers]


def test_recall_gives_fenced_lines_with_refs(store: Store) -> None:
    ref = store.record(FACT, session="earlier").ref
    (found,) = results(run(store, Call("recall", {"query": QUESTION}), Say("On Tuesday.")))
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_remember_keeps_a_statement_of_the_agent(store: Store) -> None:
    (answer,) = results(run(store, Call("remember", {"text": FACT}), Say("I will.")))
    (episode,) = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")
    assert (episode.session, episode.source) == ("s1", f"agent:{APP}")


def test_they_tell_the_model_what_they_do_and_nothing_of_user_and_session(store: Store) -> None:
    shown: dict[str, list[str]] = {}
    for tool in tools(store):
        declared = tool._get_declaration()
        assert declared is not None
        assert declared.description
        schema: Any = declared.parameters_json_schema or declared.parameters
        fields = schema["properties"] if isinstance(schema, dict) else schema.properties
        shown[str(declared.name)] = [*fields]
    assert shown == {"recall": ["query"], "remember": ["text"]}


def test_they_share_the_session_of_the_plugin_and_are_not_recorded_as_tools(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        steps = (Call("remember", {"text": FACT}), Call("recall", {"query": QUESTION}, "c1"), Say("Done."))
        run(router, *steps, plugins=[AssayPlugin(router)])
        with Store(router.path("ada")) as store:
            episodes = list(store.episodes.list())
    assert [episode.content for episode in episodes] == ["Hello", FACT, "Done."]
    assert len({(episode.session, episode.run) for episode in episodes}) == 1


def test_a_user_finds_nothing_of_another(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, Call("remember", {"text": FACT}), Say("I will."))
        (found,) = results(run(router, Call("recall", {"query": QUESTION}), Say("I do not know."), user="bob"))
    assert FACT not in found


def test_without_a_user_or_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls = (Call("recall", {"query": QUESTION}), Call("remember", {"text": FACT}), Say("Then not."))
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"), StoreRouter(tmp_path / "{user}.db") as router:
        for target, user in ((router, ""), (broken, "ada")):
            events = run(target, *calls, user=user)
            assert texts(events)[-1] == "Then not."
            assert set(results(events)) == {"Memory is not available at the moment."}
    broken.close()
