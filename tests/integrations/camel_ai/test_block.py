"""A block of long-term memory in a memory of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from camel.agents import ChatAgent
from camel.memories import LongtermAgentMemory, MemoryBlock, ScoreBasedContextCreator

from assay import Store
from assay.errors import StorageFailure
from assay.session import MissingUser, StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.camel_ai import AssayMemoryBlock

from .harness import SYSTEM, tools_of
from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def agent(target: Any, script: Script, session: str) -> ChatAgent:
    model = ScriptedModel(script)
    creator = ScoreBasedContextCreator(model.token_counter, 100_000)
    block: Any = AssayMemoryBlock(target, session=session)
    tools: Any = tools_of([*script.tools()])
    return ChatAgent(SYSTEM, model, LongtermAgentMemory(creator, vector_db_block=block), tools=tools)


def test_it_gives_a_memory_of_the_hosts_what_earlier_sessions_recorded(store: Store) -> None:
    agent(store, Script(Say("Noted.")), "earlier").step(FACT)
    script = Script(Call("add", {"a": 1, "b": 2}, "c1"), Say("On Tuesday."))
    agent(store, script, "later").step(QUESTION)
    for prompt in script.prompts:
        assert prompt.text.count("<memory-") == 1 and FACT in prompt.of("user")[0]
    assert [(one.session, one.content) for one in store.episodes.list()] == [
        ("earlier", FACT),
        ("earlier", "Noted."),
        ("later", QUESTION),
        ("later", 'add {"a": 1, "b": 2}'),
        ("later", "3"),
        ("later", "On Tuesday."),
    ]


def test_it_is_searched_by_itself_without_opening_a_run(store: Store) -> None:
    block = AssayMemoryBlock(store, session="s1")
    assert isinstance(block, MemoryBlock)
    assert block.retrieve(QUESTION) == []
    store.record(FACT, session="earlier")
    (found,) = block.retrieve(QUESTION)
    assert found.memory_record.message.content.startswith("<memory-")
    assert FACT in found.memory_record.message.content
    assert [episode.session for episode in store.episodes.list()] == ["earlier"]


def test_clearing_it_erases_nothing(store: Store) -> None:
    first = agent(store, Script(Say("Noted.")), "s1")
    first.step(FACT)
    first.reset()  # type: ignore[no-untyped-call]
    assert [one.content for one in store.episodes.list()] == [FACT, "Noted."]


def test_it_is_one_persons(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        with pytest.raises(MissingUser):
            AssayMemoryBlock(router)
        with Store(router.path("ada")) as adas:
            adas.record(FACT)
        assert AssayMemoryBlock(router, user="bob").retrieve(QUESTION) == []
        assert AssayMemoryBlock(router, user="ada").retrieve(QUESTION)


def test_a_store_out_of_order_changes_nothing(tmp_path: Path) -> None:
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    assert agent(broken, Script(Say("Noted.")), "s1").step(FACT).msgs[0].content == "Noted."
    assert AssayMemoryBlock(broken).retrieve(QUESTION) == []
    broken.close()


def test_what_it_opened_it_closes(tmp_path: Path) -> None:
    block = AssayMemoryBlock(tmp_path / "own.db", session="s1")
    assert block.retrieve(QUESTION) == []
    block.close()
    with Store(tmp_path / "own.db") as store:
        assert not store.status().faults
