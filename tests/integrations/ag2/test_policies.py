"""The memory among the policies of an agent, and as the strategy that puts its knowledge in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ag2 import Agent, AgentReply, KnowledgeConfig, MemoryStream
from ag2.aggregate import AggregateStrategy, AggregateTrigger
from ag2.assembly import AssemblyPolicy
from ag2.events.lifecycle import AggregationCompleted, AggregationFailed
from ag2.knowledge import MemoryKnowledgeStore
from ag2.policies import ConversationPolicy

from assay import Store
from assay.session import Placement, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Compose, Fail, Say, Script
from assay.testing.composer import honest_document
from assay_integrations.autogen.ag2 import AssayAggregateStrategy, AssayAssemblyPolicy, AssayMiddleware

from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
MANUAL = SessionOptions(wrap=WrapPolicy.manual())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def ask(script: Script, text: str = QUESTION, *, stream: MemoryStream | None = None, **given: Any) -> AgentReply:
    agent = Agent("main", "You are careful.", config=ScriptedModel(script), tools=[add], **given)
    return asyncio.run(agent.ask(text, stream=stream, variables={"user_id": "ada", "session_id": "s1"}))


def test_the_policy_briefs_every_call_and_records_nothing(store: Store) -> None:
    store.record(FACT)
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    policy = AssayAssemblyPolicy(store)
    assert isinstance(policy, AssemblyPolicy)
    ask(script, assembly=[policy, ConversationPolicy()])
    for prompt in script.prompts:
        users = prompt.of("user")
        assert FACT in users[-2] and users[-1] == QUESTION
    assert [episode.content for episode in store.episodes.list()] == [FACT]


def test_the_policy_may_brief_in_the_system_text(store: Store) -> None:
    store.record(FACT)
    script = Script(Say("On Tuesday."))
    ask(script, assembly=[AssayAssemblyPolicy(store, options=SessionOptions(placement=Placement.SYSTEM))])
    assert FACT in script.prompts[0].of("system")[-1] and script.prompts[0].of("user") == (QUESTION,)


def test_middleware_and_policy_together_brief_once(store: Store) -> None:
    store.record(FACT)
    router, script = StoreRouter(store), Script(Say("On Tuesday."))
    ask(script, middleware=[AssayMiddleware(router)], assembly=[AssayAssemblyPolicy(router)])
    assert script.prompts[0].text.count("<memory-") == 1


def test_a_broken_memory_leaves_the_policies_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    policy, script = AssayAssemblyPolicy(tmp_path / "folder"), Script(Say("I do not know."))
    assert ask(script, assembly=[policy]).body == "I do not know."
    policy.close()


def knowledge(strategy: AssayAggregateStrategy) -> KnowledgeConfig:
    trigger = AggregateTrigger(on_end=True)
    return KnowledgeConfig(MemoryKnowledgeStore(), expose_tool=False, aggregate=strategy, aggregate_trigger=trigger)


def test_the_strategy_consolidates_when_the_host_says_so(store: Store) -> None:
    router = StoreRouter(store)
    strategy = AssayAggregateStrategy(router)
    assert isinstance(strategy, AggregateStrategy)
    script = Script(Say("Noted."), Compose(lambda prompt: honest_document(prompt, about=FACT)))
    stream, seen = MemoryStream(), list[AggregationCompleted]()

    async def hear(event: AggregationCompleted) -> None:
        seen.append(event)

    stream.where(AggregationCompleted).subscribe(hear)
    memory = AssayMiddleware(router, options=MANUAL)
    reply = ask(script, FACT, stream=stream, middleware=[memory], knowledge=knowledge(strategy))
    assert reply.body == "Noted." and len(seen) == 1
    assert FACT in store.continuity.text()
    assert [episode.content for episode in store.episodes.list()] == [FACT, "Noted."]


def test_a_strategy_that_fails_is_reported_by_the_host_and_the_turn_goes_on(store: Store) -> None:
    router, stream, seen = StoreRouter(store), MemoryStream(), list[str]()

    async def hear(event: AggregationFailed) -> None:
        seen.append(event.error_type)

    stream.where(AggregationFailed).subscribe(hear)
    script = Script(Say("Noted."), Fail(ConnectionError("down")))
    given = {"middleware": [AssayMiddleware(router, options=MANUAL)]}
    reply = ask(script, FACT, stream=stream, knowledge=knowledge(AssayAggregateStrategy(router)), **given)
    assert reply.body == "Noted." and seen == ["ConnectionError"]
    assert store.status().wraps == 0
