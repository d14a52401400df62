"""The native memory, in the agents of the host."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import MemoryQueryEvent
from autogen_core.memory import ListMemory, Memory, MemoryContent, MemoryMimeType
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    UnboundedChatCompletionContext,
)

from assay import AssayError, Store
from assay.errors import MissingUser, StorageFailure
from assay.session import StoreRouter
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.autogen.agentchat import AssayMemory

from .scripted import ScriptedClient

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def agent(script: Script, *memories: Memory, context: ChatCompletionContext | None = None) -> AssistantAgent:
    client = ScriptedClient(script)
    given: dict[str, Any] = {"tools": [add], "max_tool_iterations": 9, "system_message": "You are careful."}
    return AssistantAgent("main", client, memory=[*memories], model_context=context, **given)


def text(content: str) -> MemoryContent:
    return MemoryContent(content=content, mime_type=MemoryMimeType.TEXT)


@pytest.mark.parametrize(
    "context",
    [
        UnboundedChatCompletionContext(),
        BufferedChatCompletionContext(buffer_size=5),
        HeadAndTailChatCompletionContext(head_size=2, tail_size=3),
    ],
    ids=lambda context: type(context).__name__,
)
def test_recalled_text_is_there_once_however_many_runs_there_were(store: Store, context: ChatCompletionContext) -> None:
    store.record(FACT)
    script = Script(*[step for n in range(5) for step in (Call("add", {"a": n, "b": n}, f"c{n}"), Say(f"Answer {n}."))])
    main = agent(script, AssayMemory(store, session="s1"), context=context)
    for _ in range(5):
        asyncio.run(main.run(task=QUESTION))
    assert max(prompt.text.count("<memory-") for prompt in script.prompts) == 1
    for first in script.prompts[::2]:
        assert FACT in first.of("user")[-2] and first.of("user")[-1] == QUESTION
    assert str(asyncio.run(main.save_state())).count("<memory-") == 1
    assert str(asyncio.run(main.save_state())).count(QUESTION) == 5


def test_a_question_that_memory_knows_nothing_of_takes_the_last_briefing_out(store: Store) -> None:
    store.record(FACT)
    script = Script(Say("On Tuesday."), Say("Blue."))
    main = agent(script, AssayMemory(store, session="s1"))
    asyncio.run(main.run(task=QUESTION))
    asyncio.run(main.run(task="Which colour has the sky?"))
    assert [prompt.text.count("<memory-") for prompt in script.prompts] == [1, 0]


def test_what_was_learned_meanwhile_is_in_the_next_run(store: Store) -> None:
    store.record("The billing service is owned by the payments team")
    script = Script(Say("Not known."), Say("On Tuesday."))
    main = agent(script, AssayMemory(store, session="s1"))
    asyncio.run(main.run(task=QUESTION))
    store.record(FACT)
    asyncio.run(main.run(task=QUESTION))
    assert [FACT in prompt.text for prompt in script.prompts] == [False, True]


def test_a_context_that_keeps_more_than_messages_is_left_alone(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    class Counts(UnboundedChatCompletionContext):
        async def save_state(self) -> dict[str, Any]:
            return {"count": len(self._messages)}

    store.record(FACT)
    script = Script(Say("I do not know."))
    asyncio.run(agent(script, AssayMemory(store), context=Counts()).run(task=QUESTION))
    assert script.prompts[0].of("user") == (QUESTION,)
    assert "this context keeps more than messages" in caplog.text


def test_another_memory_beside_it_keeps_what_it_put_in(store: Store) -> None:
    store.record(FACT)
    other = ListMemory(memory_contents=[text("The person likes teal")])
    script = Script(Say("On Tuesday."), Say("Still."))
    main = agent(script, other, AssayMemory(store, session="s1"))
    for _ in range(2):
        asyncio.run(main.run(task=QUESTION))
    assert [prompt.text.count("likes teal") for prompt in script.prompts] == [1, 2]  # as the host's own memory does
    assert [prompt.text.count("<memory-") for prompt in script.prompts] == [1, 1]


def test_the_host_shows_what_was_recalled(store: Store) -> None:
    store.record(FACT)
    result = asyncio.run(agent(Script(Say("On Tuesday.")), AssayMemory(store)).run(task=QUESTION))
    (event,) = [message for message in result.messages if isinstance(message, MemoryQueryEvent)]
    assert FACT in str(event.content[0].content)


def test_it_records_nothing_that_is_said(store: Store) -> None:
    asyncio.run(agent(Script(Say("Noted.")), AssayMemory(store)).run(task=FACT))
    assert not list(store.episodes.list())


def test_what_is_added_is_found_with_its_ref_until_it_is_cleared(store: Store) -> None:
    memory = AssayMemory(store, session="s1")
    data = MemoryContent(content={"port": 5432}, mime_type=MemoryMimeType.JSON)

    async def scenario() -> tuple[list[MemoryContent], list[MemoryContent]]:
        await memory.add(text(FACT))
        await memory.add(data)
        found = (await memory.query(QUESTION)).results
        again = (await memory.query(text("port 5432"))).results
        return found, again

    (found, again) = asyncio.run(scenario())
    added, other = store.episodes.list()
    assert (added.content, added.origin.value, added.trust.value) == (FACT, "agent", "agent")
    assert found[0].content == FACT and added.ref.startswith((found[0].metadata or {})["ref"])
    assert again[0].content == other.content == '{"port": 5432}'
    said = store.record("A person said this", source="user:ada")
    asyncio.run(memory.clear())
    assert [episode.ref for episode in store.episodes.list()] == [said.ref]
    assert store.verify()


def test_bytes_are_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="text and JSON"):
        asyncio.run(AssayMemory(store).add(MemoryContent(content=b"png", mime_type=MemoryMimeType.BINARY)))


def test_a_fault_changes_nothing_for_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL, "assay.session"):
        broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
        memory, script = AssayMemory(broken), Script(Say("I do not know."))
        assert asyncio.run(agent(script, memory).run(task=QUESTION)).messages[-1].to_text() == "I do not know."
        asyncio.run(memory.add(text(FACT)))
        assert asyncio.run(memory.query(QUESTION)).results == []
        with pytest.raises(AssayError):
            asyncio.run(memory.clear())
    broken.close()


def test_a_missing_user_is_told_early(tmp_path: Path) -> None:
    with pytest.raises(MissingUser):
        AssayMemory(tmp_path / "{user}.db")


def test_it_is_dumped_and_loaded_as_a_component(tmp_path: Path) -> None:
    memory = AssayMemory(tmp_path / "{user}.db", user="ada", session="s1")
    asyncio.run(memory.add(text(FACT)))
    dumped = memory.dump_component()
    asyncio.run(memory.close())
    loaded = Memory.load_component(dumped.model_dump())
    assert isinstance(loaded, AssayMemory) and loaded.dump_component() == dumped
    assert asyncio.run(loaded.query(QUESTION)).results[0].content == FACT
    asyncio.run(loaded.close())


def test_users_stay_apart_on_one_router(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        ada, bob = AssayMemory(router, user="ada"), AssayMemory(router, user="bob")
        asyncio.run(ada.add(text(FACT)))
        assert asyncio.run(bob.query(QUESTION)).results == []
        asyncio.run(ada.close())
        assert len(asyncio.run(ada.query(QUESTION)).results) == 1
