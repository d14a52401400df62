"""A block in the host's own memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory
from llama_index.core.tools import FunctionTool

from assay import Store
from assay.errors import StorageFailure
from assay.session import MissingUser, StoreRouter
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing import Call, Compose, FaultyStore, Say, Script
from assay.testing.composer import honest_document
from assay.testing.tapped import VERBS
from assay_integrations.llama_index import AssayMemory, AssayMemoryBlock

from .harness import SYSTEM
from .scripted import scripted

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def run(kept: Any, script: Script, *texts: str) -> Any:
    tools = [FunctionTool.from_defaults(tool) for tool in script.tools()]
    agent = FunctionAgent(name="main", tools=[*tools], llm=scripted(script), system_prompt=SYSTEM)

    async def go() -> list[ChatMessage]:
        for text in texts:
            await agent.run(text, memory=kept)
        messages: list[ChatMessage] = await kept.aget_all()
        return messages

    return asyncio.run(go())


def memory(block: AssayMemoryBlock, session: str = "s1") -> Memory:
    return Memory.from_defaults(session_id=session, memory_blocks=[block], insert_method=InsertMethod.USER)


def test_it_records_a_run_and_briefs_its_calls_inside_the_persons_message(store: Store) -> None:
    run(memory(AssayMemoryBlock(store), "earlier"), Script(Say("Noted.")), FACT)
    script = Script(Call("add", {"a": 1, "b": 2}, "c1"), Say("On Tuesday."))
    kept = run(memory(AssayMemoryBlock(store)), script, QUESTION)
    for prompt in script.prompts:
        (asked,) = prompt.of("user")
        assert prompt.text.count("<memory-") == 1
        assert asked.index(FACT) < asked.index(QUESTION)
        assert prompt.of("system") == (SYSTEM,)
    assert [(one.session, one.content) for one in store.episodes.list()] == [
        ("earlier", FACT),
        ("earlier", "Noted."),
        ("s1", QUESTION),
        ("s1", 'add {"a": 1, "b": 2}'),
        ("s1", "3"),
        ("s1", "On Tuesday."),
    ]
    assert "<memory-" not in str(kept)
    with database_of(store).read() as reader:
        assert find_open_run(reader, "s1", None) is None


def test_a_second_run_shows_one_copy(store: Store) -> None:
    run(memory(AssayMemoryBlock(store), "earlier"), Script(Say("Noted.")), FACT)
    script = Script(Say("On Tuesday."), Say("Yes."))
    run(memory(AssayMemoryBlock(store)), script, QUESTION, "Are you sure about the deploys?")
    assert [prompt.text.count("<memory-") for prompt in script.prompts] == [1, 1]


def test_inside_a_memory_of_ours_it_adds_nothing(store: Store) -> None:
    run(memory(AssayMemoryBlock(store), "earlier"), Script(Say("Noted.")), FACT)
    script = Script(Say("On Tuesday."))
    kept = AssayMemory.from_defaults(store, session_id="s1", memory_blocks=[AssayMemoryBlock(store)])
    run(kept, script, QUESTION)
    assert script.prompts[0].text.count("<memory-") == 1
    assert [one.content for one in store.episodes.list()].count(QUESTION) == 1


def test_it_is_searched_by_itself_without_opening_a_run(store: Store) -> None:
    block = AssayMemoryBlock(store)
    assert isinstance(block, BaseMemoryBlock)
    asked = [ChatMessage(role="user", content=QUESTION)]
    assert asyncio.run(block.aget(asked, session_id="s1")) == ""
    store.record(FACT, session="earlier")
    assert FACT in asyncio.run(block.aget(asked, session_id="s1"))
    asyncio.run(block.aput(asked, session_id="s1"))
    assert [one.session for one in store.episodes.list()] == ["earlier"]


def test_its_session_is_consolidated_when_the_caller_says_so(store: Store) -> None:
    block = AssayMemoryBlock(store)
    script = Script(Say("Noted."), *[Compose(honest_document)] * 3)
    run(memory(block), script, "The lights of the hall are on")
    assert asyncio.run(block.aend_session("s1", now=True)).status.value == "committed"
    block.close()


def test_it_is_one_persons(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        with pytest.raises(MissingUser):
            AssayMemoryBlock(router)
        run(memory(AssayMemoryBlock(router, user="ada"), "earlier"), Script(Say("Noted.")), FACT)
        script = Script(Say("I do not know."))
        run(memory(AssayMemoryBlock(router, user="bob")), script, QUESTION)
    assert FACT not in script.prompts[0].text


def test_a_store_out_of_order_changes_nothing(tmp_path: Path) -> None:
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    kept = run(memory(AssayMemoryBlock(broken)), Script(Say("Noted.")), FACT)
    assert [message.content for message in kept] == [FACT, "Noted."]
    assert asyncio.run(AssayMemoryBlock(broken).aget([ChatMessage(role="user", content=QUESTION)])) == ""
    broken.close()
