"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.errors import StorageFailure
from assay.session import MissingUser, StoreRouter
from assay.testing import Call, Entry, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.camel_ai import AssayAgentMemory, AssayChatAgent, tools

from .harness import SYSTEM, answer_of
from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(
    target: Any, *steps: Any, user: str | None = "ada", memory: Any = None, entry: Entry = Entry.SYNC
) -> tuple[str, list[str]]:
    """Run an agent that has the tools; give its answer, and what its tools gave."""
    settings: dict[str, Any] = {"tools": tools(target, user=user, session="c1"), "stream_accumulate": False}
    agent = AssayChatAgent(SYSTEM, ScriptedModel(Script(*steps)), memory, **settings)
    agent.model_backend.model_config_dict["stream"] = entry.streams
    responses = list(answer_of(agent, "Hello", entry))
    records = [one.memory_record for one in agent.memory.retrieve()]
    given = [str(one.message.result) for one in records if one.role_at_backend.value == "function"]  # type: ignore[attr-defined]
    return "".join(response.msgs[0].content for response in responses), given


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.value) for entry in Entry])
def test_recall_gives_fenced_lines_with_refs(store: Store, entry: Entry) -> None:
    ref = store.record(FACT, session="earlier").ref
    _, (found,) = run(store, Call("recall", {"query": QUESTION}), Say("On Tuesday."), entry=entry)
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
        shown = {tool.get_function_name(): tool.get_openai_tool_schema() for tool in tools(store, user="ada")}
    assert {name: [*schema["function"]["parameters"]["properties"]] for name, schema in shown.items()} == {
        "recall": ["query"],
        "remember": ["text"],
    }
    assert all(schema["function"]["description"] for schema in shown.values())


def test_they_share_the_session_of_the_memory_and_are_not_recorded_as_tools(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        steps = (Call("remember", {"text": FACT}), Call("recall", {"query": QUESTION}, "c1"), Say("Done."))
        run(router, *steps, memory=AssayAgentMemory(router, user="ada", session="c1"))
        with Store(router.path("ada")) as store:
            episodes = list(store.episodes.list())
    assert [episode.content for episode in episodes] == ["Hello", FACT, "Done."]
    assert len({(episode.session, episode.run) for episode in episodes}) == 1


def test_a_user_finds_nothing_of_another(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, Call("remember", {"text": FACT}), Say("I will."))
        _, (found,) = run(router, Call("recall", {"query": QUESTION}), Say("I do not know."), user="bob")
    assert FACT not in found


def test_without_a_user_there_are_no_tools(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router, pytest.raises(MissingUser):
        tools(router)


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
