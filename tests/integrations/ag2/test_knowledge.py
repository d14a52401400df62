"""The knowledge store, beside the host's own one, and through the host's tool, policies and strategies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from ag2 import Agent, KnowledgeConfig
from ag2.aggregate import AggregateTrigger, WorkingMemoryAggregate
from ag2.knowledge import (
    WORKING_MEMORY_PATH,
    KnowledgeStore,
    MemoryKnowledgeStore,
    NoopChangeSubscription,
)
from ag2.policies import ConversationPolicy, WorkingMemoryPolicy

from assay import Store
from assay.session import StoreRouter
from assay.testing import Call, Say, Script
from assay_integrations.autogen.ag2 import AssayKnowledgeStore, AssayMiddleware

from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"

Step = Callable[[KnowledgeStore], Awaitable[object]]
STEPS: list[Step] = [
    lambda files: files.list("/"),
    lambda files: files.list("/memory"),
    lambda files: files.read("/memory/none.md"),
    lambda files: files.write("/memory/a.md", "First text of a"),
    lambda files: files.write("/memory/deep/er/b.md", "Text of b"),
    lambda files: files.write("/artifacts/c.md", "Text of c"),
    lambda files: files.write("memory//a.md", "Second text of a"),
    lambda files: files.read("/memory/a.md"),
    lambda files: files.read("/artifacts/c.md"),
    lambda files: files.list("/"),
    lambda files: files.list("/memory/"),
    lambda files: files.list("/memory/deep"),
    lambda files: files.list("/mem"),
    lambda files: files.exists("/memory"),
    lambda files: files.exists("/memory/deep"),
    lambda files: files.exists("/memory/deep/er/b.md"),
    lambda files: files.exists("/memory/de"),
    lambda files: files.exists("/artifacts/c.md"),
    lambda files: files.append("/memory/log.md", "Grüße"),
    lambda files: files.append("/memory/log.md", " and more"),
    lambda files: files.append("/artifacts/log.md", "elsewhere"),
    lambda files: files.read("/memory/log.md"),
    lambda files: files.write("/memory/case.md", "if x:\n    Y"),
    lambda files: files.write("/memory/case.md", "IF X:\n  y"),
    lambda files: files.read("/memory/case.md"),
    lambda files: files.read_range("/memory/log.md", 7),
    lambda files: files.read_range("/memory/log.md", 0, 4),
    lambda files: files.read_range("/memory/log.md", 90),
    lambda files: files.read_range("/memory/none.md", 0),
    lambda files: files.delete("/memory/none.md"),
    lambda files: files.delete("/memory/deep"),
    lambda files: files.exists("/memory/deep/er/b.md"),
    lambda files: files.delete("/memory/a.md"),
    lambda files: files.list("/memory"),
    lambda files: files.write("/memory/a.md", "Third text of a"),
    lambda files: files.read("/memory/a.md"),
    lambda files: files.delete("/memory"),
    lambda files: files.list("/"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def test_it_answers_as_the_hosts_own_store_does(store: Store) -> None:
    async def answers(files: KnowledgeStore) -> list[object]:
        assert isinstance(files, KnowledgeStore)
        return [await step(files) for step in STEPS]

    assert asyncio.run(answers(AssayKnowledgeStore(store))) == asyncio.run(answers(MemoryKnowledgeStore()))


def test_a_file_has_a_history_until_it_is_deleted(store: Store) -> None:
    files = AssayKnowledgeStore(store)

    async def change() -> None:
        await files.write(WORKING_MEMORY_PATH, "The build is red")
        await files.write(WORKING_MEMORY_PATH, FACT)

    asyncio.run(change())
    old, new = store.episodes.list()
    assert (new.content, new.origin.value, new.trust.value, new.source) == (FACT, "agent", "agent", "ag2:knowledge")
    assert old.replaced_by == new.ref
    asyncio.run(files.delete(WORKING_MEMORY_PATH))
    assert not list(store.episodes.list())
    assert store.verify()


def test_more_files_than_a_page_of_recall_are_listed(store: Store) -> None:
    files = AssayKnowledgeStore(store)

    async def write() -> None:
        for number in range(210):
            await files.write(f"/memory/conversations/{number}.md", f"Summary number {number}")

    asyncio.run(write())
    assert len(asyncio.run(files.list("/memory/conversations"))) == 210


def test_appends_at_once_lose_nothing(store: Store) -> None:
    files = AssayKnowledgeStore(store)

    async def together() -> None:
        await asyncio.gather(*(files.append("/memory/log.md", f"line {number}\n") for number in range(8)))

    asyncio.run(together())
    text = asyncio.run(files.read("/memory/log.md"))
    assert sorted((text or "").split("\n")[:-1]) == [f"line {number}" for number in range(8)]


def test_changes_are_told_where_the_host_keeps_the_files(store: Store) -> None:
    files, changed = AssayKnowledgeStore(store), list[str]()

    async def scenario() -> None:
        async def note(path: str) -> None:
            changed.append(path)

        assert isinstance(await files.on_change("/memory", note), NoopChangeSubscription)
        await files.on_change("/artifacts", note)
        await files.write("/artifacts/a.md", "a")
        await files.write("/memory/a.md", "a thing worth keeping")

    asyncio.run(scenario())
    assert changed == ["/artifacts/a.md"]


def test_what_the_host_writes_about_itself_is_no_memory(store: Store) -> None:
    config = KnowledgeConfig(AssayKnowledgeStore(store))
    script = Script(Call("knowledge", {"action": "list", "path": "/memory"}), Say("Nothing yet."))
    asyncio.run(Agent("main", config=ScriptedModel(script), knowledge=config).ask("What do you know?"))
    assert "Working memory" in script.prompts[-1].of("tool")[0]
    assert not list(store.episodes.list())


def test_an_agent_writes_with_the_hosts_tool_and_a_later_one_is_briefed(store: Store) -> None:
    arguments = {"action": "write", "path": WORKING_MEMORY_PATH, "content": FACT}
    writes = Script(Call("knowledge", arguments), Say("Kept."))
    config = KnowledgeConfig(AssayKnowledgeStore(store))
    asyncio.run(Agent("main", config=ScriptedModel(writes), knowledge=config).ask("Keep it"))
    asks = Script(Say("On Tuesday."))
    agent = Agent("main", config=ScriptedModel(asks), middleware=[AssayMiddleware(StoreRouter(store))])
    asyncio.run(agent.ask(QUESTION))
    assert FACT in asks.prompts[0].text


def test_the_hosts_strategy_and_policy_work_on_it(store: Store) -> None:
    script = Script(Say("Noted."), Say(FACT), Say("On Tuesday."), Say(FACT))
    config = ScriptedModel(script)
    knowledge = KnowledgeConfig(
        AssayKnowledgeStore(store),
        expose_tool=False,
        aggregate=WorkingMemoryAggregate(config),
        aggregate_trigger=AggregateTrigger(on_end=True),
    )
    agent = Agent("main", config=config, knowledge=knowledge, assembly=[WorkingMemoryPolicy(), ConversationPolicy()])
    asyncio.run(agent.ask("Remember when we deploy"))
    assert [episode.content for episode in store.episodes.list()] == [FACT]
    asyncio.run(agent.ask(QUESTION))
    assert FACT in script.prompts[2].text


def test_it_closes_what_it_opened_alone(tmp_path: Path, store: Store) -> None:
    AssayKnowledgeStore(store).close()
    store.record("still open")
    files = AssayKnowledgeStore(tmp_path / "own.db")
    asyncio.run(files.write("/memory/a.md", "a thing worth keeping"))
    files.close()
    with Store(tmp_path / "own.db") as again:
        assert len(list(again.episodes.list())) == 1
